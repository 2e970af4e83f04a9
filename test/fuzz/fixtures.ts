import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { LEAVER, NEWCOMER, OPERATOR, ORIGINATOR, QUOTER, type Accounts } from './accounts.js';

interface Listed {
  readonly shards?: readonly { readonly shard: number; readonly state: string }[];
  readonly halts?: readonly { readonly halt_id: string }[];
  readonly groups?: readonly { readonly group_id: string }[];
  readonly quotes?: readonly QuoteJson[];
  readonly status?: string;
}

const LONGER_THAN_A_RUN_MS = 7_200_000;
const QUOTE = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const PROTECTION = {
  window_ms: 60_000,
  max_awards: 1_000,
  max_award_notional_atoms: 1_000_000_000,
  frozen_ms: 1_000,
};
const POLICIES = [{}, { quote_revision_policy: 'IMPROVE_ONLY' }, { quote_revision_policy: 'FINAL' }];
const SHARDS = ['0', '1', '2'];

/**
 * Things that hostile requests can name, so that there is something to damage. What an accepted request removes
 * is created again.
 */
export class Fixtures {
  readonly auctions: string[] = [];
  /** One for each auction, in the same order. */
  readonly quotes: string[] = [];
  private readonly groups: string[] = [];
  private readonly halts: string[] = [];
  /** An auction that may be cancelled, and one that is over. */
  private readonly spare: string[] = [];
  private readonly ended: string[] = [];

  constructor(
    private readonly file: OwnedCluster['file'],
    private readonly accounts: Accounts,
  ) {}

  async make(): Promise<void> {
    const { accounts, auctions } = this;
    for (const index of POLICIES.keys()) {
      const request = this.requestFor(index);
      auctions.push(
        (await accounts.insist<AuctionJson>(ORIGINATOR, 'POST', '/v1/auctions', request)).auction_id,
      );
    }
    await this.putBack();
    await accounts.ask(ORIGINATOR, 'POST', `/v1/auctions/${this.spare[0] ?? ''}/cancel`, {});
    await this.putBack();
  }

  /** In the necessary order: a halted account cannot submit its quote again. */
  async putBack(): Promise<void> {
    const { accounts, groups, halts } = this;
    const shards = await this.list(OPERATOR, '/v1/ops/shards');
    for (const { shard, state } of shards.shards ?? [])
      if (state === 'DRAINING') await accounts.insist(OPERATOR, 'POST', `/v1/ops/shards/${shard}/resume`, {});
    const halted = (await this.list(OPERATOR, '/v1/ops/halts')).halts ?? [];
    await this.keepOne(
      halts,
      halted.map((halt) => halt.halt_id),
      OPERATOR,
      '/v1/ops/halts',
      this.halt(),
    );
    const grouped = (await this.list(ORIGINATOR, '/v1/groups')).groups ?? [];
    const group = { name: 'friends', market_maker_ids: [this.idOf(QUOTER)] };
    await this.keepOne(
      groups,
      grouped.map((each) => each.group_id),
      ORIGINATOR,
      '/v1/groups',
      group,
    );
    await this.putBackSpares();
    await accounts.insist(NEWCOMER, 'POST', '/v1/quotes/withdraw-all', {});
    for (const [index, auction] of this.auctions.entries()) {
      const path = `/v1/auctions/${auction}/quotes`;
      const standing = (await this.list(QUOTER, path)).quotes?.find(({ status }) => status === 'ACTIVE');
      const quote = standing ?? (await accounts.insist<QuoteJson>(QUOTER, 'POST', path, QUOTE));
      this.quotes[index] = quote.quote_id;
    }
  }

  /** Existing values, by field name. */
  real(): Map<string, readonly unknown[]> {
    const { auctions, quotes, groups, halts, spare, ended } = this;
    const makers = [this.idOf(QUOTER), this.idOf(NEWCOMER)];
    const [route] = this.routes();
    const request = this.requestFor(0);
    const requests = [
      request,
      { ...request, limit_price_atoms: 600_000, result_disclosure: 'WINNING_PRICE' },
    ];
    const email = 'viewer-1@demo.sotto';
    return new Map<string, readonly unknown[]>([
      ...['auctionID', 'auction_id', 'auction_ids'].map((name) => [name, auctions] as const),
      ...['cancelAuction.auctionID', 'voidAuction.auctionID', 'auction.cancel.auction_id'].map(
        (name) => [name, spare] as const,
      ),
      ...['getAuditedAuction.auctionID', 'getReplayBundle.auctionID'].map((name) => [name, ended] as const),
      ...['quoteID', 'quote_id'].map((name) => [name, quotes] as const),
      ...['groupID', 'group_ids'].map((name) => [name, groups] as const),
      ...['createAuction.body', 'preflightAuction.body'].map((name) => [name, requests] as const),
      ['haltID', halts],
      ['accountID', makers],
      ['market_maker_ids', makers],
      ['routes', [[route], this.routes()]],
      ['venue', [route?.venue]],
      ['shard', SHARDS],
      ['target', [this.halt().target, route?.venue]],
      ['what', [['CREATE'], ['QUOTE'], ['CREATE', 'QUOTE']]],
      ['subscription_id', ['s1', 's2']],
      ...['quantity_atoms', 'min_quantity_atoms', 'max_executable_quantity_atoms'].map(
        (name) => [name, [1_000_000, 2_000_000]] as const,
      ),
      ['price_atoms', [500_000, 400_000]],
      ['expected_revision', [1]],
      ['submitQuote.body', [QUOTE, { ...QUOTE, price_atoms: 400_000 }]],
      [
        'imposeHalt.body',
        [this.halt(), { scope: 'VENUE', target: route?.venue, what: ['CREATE'], reason: 'x' }],
      ],
      ['putProtection.body', [PROTECTION]],
      ['login.body', [{ email, password: this.accounts.password }]],
    ]);
  }

  auctionOf(quote: string): string | undefined {
    return this.auctions[this.quotes.indexOf(quote)];
  }

  /** What the service shows: tables and journals do not contain what an owner holds only in memory. */
  async shown(): Promise<ReadonlyMap<string, string>> {
    const standing = new Map<string, string>();
    const asked = this.auctions.flatMap((id) =>
      [ORIGINATOR, QUOTER, NEWCOMER].flatMap((name) =>
        [`/v1/auctions/${id}`, `/v1/auctions/${id}/quotes`].map(async (path) => {
          const { status, body } = await this.accounts.ask<Listed>(name, 'GET', path);
          if (status !== 200) return;
          for (const quote of body.quotes ?? [])
            if (quote.status === 'ACTIVE') standing.set(`${name} ${quote.quote_id}`, JSON.stringify(quote));
          // A refusal adds a line to the timeline, and changes nothing else.
          if (body.status === 'OPEN')
            standing.set(`${name} ${path}`, JSON.stringify({ ...body, view_version: undefined }));
        }),
      ),
    );
    await Promise.all(asked);
    return standing;
  }

  private async putBackSpares(): Promise<void> {
    const { accounts, ended, spare } = this;
    if ((await accounts.ask(LEAVER, 'GET', '/v1/me')).status !== 200) await accounts.logIn(LEAVER);
    const [id] = spare;
    if (id !== undefined && (await this.list(ORIGINATOR, `/v1/auctions/${id}`)).status === 'OPEN') return;
    if (id !== undefined) ended[0] = id;
    spare[0] = (
      await accounts.insist<AuctionJson>(ORIGINATOR, 'POST', '/v1/auctions', this.requestFor(0))
    ).auction_id;
  }

  /** Keeps exactly one item of a list: the known one, or a new one. */
  private async keepOne(
    known: string[],
    listed: readonly string[],
    name: string,
    path: string,
    body: object,
  ): Promise<void> {
    for (const id of listed)
      if (!known.includes(id)) await this.accounts.ask(name, 'DELETE', `${path}/${id}`);
    if (listed.some((id) => known.includes(id))) return;
    const made = await this.accounts.insist<{ readonly halt_id?: string; readonly group_id?: string }>(
      name,
      'POST',
      path,
      body,
    );
    known[0] = made.halt_id ?? made.group_id ?? '';
  }

  private async list(name: string, path: string): Promise<Listed> {
    return (await this.accounts.ask<Listed>(name, 'GET', path)).body;
  }

  /** For an account that does nothing here. */
  private halt(): Readonly<Record<'target', string> & Record<string, unknown>> {
    return { scope: 'PRINCIPAL', target: this.idOf('maker-3'), what: ['QUOTE'], reason: 'not in this run' };
  }

  private requestFor(index: number): object {
    return {
      side: 'BUY',
      quantity_atoms: 10_000_000,
      routes: this.routes().slice(index, index + 1),
      duration_ms: LONGER_THAN_A_RUN_MS,
      audience: { market_maker_ids: [this.idOf(QUOTER), this.idOf(NEWCOMER)] },
      ...POLICIES[index],
    };
  }

  private routes(): { readonly venue: string }[] {
    const contracts = this.file.contracts.slice(0, POLICIES.length);
    return contracts.map(({ venue, contract_id, outcome }) => ({ venue, contract_id, outcome }));
  }

  private idOf(name: string): string {
    return this.file.demo.users.find(({ email }) => email === `${name}@demo.sotto`)?.account_id ?? '';
  }
}
