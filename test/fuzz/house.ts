import type { ApiClient } from '#libs/client/api-client.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionView } from '#libs/client/wire.js';
import { cursorOf, ENDED, LEAVER, NEWCOMER, SPARE } from './cast.js';
import { Furniture, StandingQuotes } from './furniture.js';
import { EmptyHands, OneGroup, OperatorsOrder, Spares } from './pieces.js';
import type { KnownValues } from './schema-values.js';
import { Shown } from './shown.js';

/** Each list that is read in pages, by its operation, and who reads it. */
const PAGED = [
  { operationId: 'listAuctions', reader: 'originator-2', path: '/v1/auctions' },
  { operationId: 'listContracts', reader: 'originator-2', path: '/v1/contracts' },
  { operationId: 'listQuotes', reader: 'maker-1', path: '/v1/quotes' },
  { operationId: 'listOperatorActions', reader: 'operator-1', path: '/v1/ops/actions' },
  { operationId: 'listAuditedAuctions', reader: 'auditor-1', path: '/v1/audit/auctions' },
];
const HOUR_MS = 3_600_000;
const STANDING = 3;
const PROTECTION = {
  window_ms: 60_000,
  max_awards: 1_000,
  max_award_notional_atoms: 1_000_000_000,
  frozen_ms: 1_000,
};
const NO_CREATES = { what: ['CREATE'], reason: 'x' };
const EVERYTHING = { scope: 'GLOBAL', ...NO_CREATES };
const EVERY_SHARD = ['0', '1', '2'];

/** Who may come in, by the names of the demo. */
export interface Keys {
  readonly as: (name: string) => ApiClient;
  readonly renewLeaver: () => Promise<void>;
}

/** The little that there is in the cluster. */
export class House {
  private readonly people: readonly ApiClient[];
  private readonly makers: readonly string[];
  private readonly routes: readonly { readonly venue: string }[];
  private readonly auctions: string[] = [];
  private readonly quotes: StandingQuotes;
  private readonly group: OneGroup;
  private readonly spares: Spares;
  private readonly halt: object;
  private readonly order: OperatorsOrder;
  readonly furniture: Furniture;
  readonly shown: Shown;

  private constructor(
    private readonly file: OwnedCluster['file'],
    private readonly keys: Keys,
  ) {
    const [originator, maker, newcomer, operator] = [
      keys.as('originator-2'),
      keys.as('maker-1'),
      keys.as(NEWCOMER),
      keys.as('operator-1'),
    ];
    this.people = [originator, maker, newcomer, operator];
    const [bystander = '', ...makers] = ['maker-3', 'maker-1', NEWCOMER].map((name) => accountOf(file, name));
    this.makers = makers;
    this.routes = file.contracts
      .slice(0, STANDING)
      .map(({ venue, contract_id, outcome }) => ({ venue, contract_id, outcome }));
    this.quotes = new StandingQuotes(maker, this.auctions);
    this.group = new OneGroup(originator, { name: 'friends', market_maker_ids: makers.slice(0, 1) });
    const session = { is: () => keys.as(LEAVER), renew: keys.renewLeaver };
    this.spares = new Spares(originator, this.requestFor(0), session);
    this.halt = { scope: 'PRINCIPAL', target: bystander, what: ['QUOTE'], reason: 'nobody here' };
    this.order = new OperatorsOrder(operator, this.halt);
    const pieces = [this.order, this.spares, this.group, new EmptyHands(newcomer)];
    this.furniture = new Furniture(this.quotes, pieces);
    this.shown = new Shown(originator, [maker, newcomer], this.auctions);
  }

  static async furnished({ file }: OwnedCluster, keys: Keys): Promise<House> {
    const house = new House(file, keys);
    const { auctions, furniture, routes, spares } = house;
    const originator = keys.as('originator-2');
    for (const index of routes.keys()) {
      const opened = await originator.post<AuctionView>('/v1/auctions', house.requestFor(index));
      auctions.push(opened.body.auction_id);
    }
    await furniture.putBack();
    // Of what was put back twice there is a second page.
    for (let times = 0; times < 2; times += 1) {
      await house.order.end();
      await originator.post(`/v1/auctions/${spares.auctions[0] ?? ''}/cancel`, {});
      await furniture.putBack();
    }
    originator.close();
    return house;
  }

  /** What requests may name so that they are about something. */
  async known(): Promise<KnownValues> {
    const { auctions, file, group, halt, makers, order, quotes, routes, spares } = this;
    const short = { ...this.requestFor(0), duration_ms: 5_000 };
    const cursors = await this.cursors();
    const requests = [short, { ...short, limit_price_atoms: 600_000, result_disclosure: 'WINNING_PRICE' }];
    return new Map<string, readonly unknown[]>([
      ['auctionID', auctions],
      ['auction_id', auctions],
      ['auction_ids', [auctions, auctions.slice(0, 1)]],
      ['id', auctions],
      [SPARE, spares.auctions],
      [ENDED, spares.ended],
      ['quoteID', quotes.ids],
      ['quote_id', quotes.ids],
      ['group_id', group.ids],
      ['groupID', group.ids],
      ['group_ids', [group.ids]],
      ['subscription_id', ['s1', 's2']],
      ['haltID', order.halts],
      ['accountID', makers],
      ['market_maker_ids', [makers.slice(0, 1), makers]],
      ['routes', routes.map((route) => [route])],
      ['cursor', [...cursors.values()]],
      ...[...cursors].map(([operationId, cursor]) => [cursorOf(operationId), [cursor]] as const),
      ['quantity_atoms', [1_000_000, 10_000_000]],
      ['min_quantity_atoms', [1_000_000]],
      ['max_executable_quantity_atoms', [1_000_000]],
      ['price_atoms', [500_000, 400_000]],
      ['expected_revision', [1]],
      ['n', EVERY_SHARD],
      ['shard', EVERY_SHARD],
      ['createAuction', requests],
      ['preflightAuction', requests],
      ['imposeHalt', [halt, { scope: 'VENUE', target: routes[0]?.venue, ...NO_CREATES }, EVERYTHING]],
      ['putProtection', [PROTECTION]],
      ['login', [{ email: 'viewer-1@demo.sotto', password: file.demo.password }]],
    ]);
  }

  close(): void {
    for (const one of this.people) one.close();
  }

  private requestFor(index: number): object {
    return {
      side: 'BUY',
      quantity_atoms: 10_000_000,
      routes: this.routes.slice(index, index + 1),
      duration_ms: 2 * HOUR_MS,
      audience: { market_maker_ids: this.makers },
    };
  }

  /** By operation, behind the first row. */
  private async cursors(): Promise<ReadonlyMap<string, string>> {
    const cursors = new Map<string, string>();
    for (const { operationId, reader, path } of PAGED) {
      const client = this.keys.as(reader);
      // What has just ended is in a list of what is over a moment later.
      const cursor = await eventually(async () => {
        const { body, text } = await client.get<{ readonly next_cursor?: string }>(`${path}?limit=1`);
        if (body.next_cursor === undefined) throw new Error(`${operationId} has no second page: ${text}`);
        return body.next_cursor;
      });
      client.close();
      cursors.set(operationId, cursor);
    }
    return cursors;
  }
}

function accountOf({ demo }: OwnedCluster['file'], name: string): string {
  return demo.users.find(({ email }) => email === `${name}@demo.sotto`)?.account_id ?? '';
}
