import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import { auctionBody, CONTRACT, TradingFloor, verdict, type Trader } from '../trading-floor.js';

/** No other suite trades at this venue. */
const VENUE = 'venue_b';
const HEARD_WITHIN_MS = 10_000;
const LATER = '2099-01-01T00:00:00Z';

jest.setTimeout(40_000);

type Act = 'create' | 'preflight' | 'submit' | 'revise' | 'check';
const EVERY: readonly Act[] = ['create', 'preflight', 'submit', 'revise', 'check'];
const QUOTING: readonly Act[] = ['submit', 'revise', 'check'];
const OPENING: readonly Act[] = ['create', 'preflight'];

let floor: TradingFloor;
let books: ServiceRecords;
let originator: Trader;
let maker: Trader;
let contract: ClusterContract;
/** One with an active quote, and one without. */
let quoted: AuctionJson;
let empty: AuctionJson;
let undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const env = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:1,originators:1' };
  floor = new TradingFloor(await startCluster({ env }));
  books = new ServiceRecords(floor.cluster);
  [originator, maker] = await floor.newTraders('originator', 'maker');
  contract = floor.contract(VENUE, 2);
  const open = (policy: string): Promise<AuctionJson> =>
    eventually(() => originator.opens(body({ duration_ms: 600_000, quote_revision_policy: policy })));
  // Protection withdraws all revocable quotes.
  [quoted, empty] = await Promise.all([open('IMPROVE_ONLY'), open('FREE')]);
  await maker.quotes(quoted.auction_id, 500_000, 2);
}, 90_000);

afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
  // Owners hear of it with a delay: the next test begins when everything is allowed again.
  for (const act of ['submit', 'create', 'revise'] as const) {
    await eventually(async () => expect(verdict(await acts[act]())).toMatch(/^20/), HEARD_WITHIN_MS);
  }
});

afterAll(async () => {
  await Promise.all([quoted, empty].map(({ auction_id: id }) => originator.cancel(id)));
  await books.close();
  await floor.end();
});

function body(differing: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return auctionBody(contract, [maker], { duration_ms: 60_000, ...differing });
}

/** Accepted commands are undone at once. */
const acts: Readonly<Record<Act, () => Promise<ApiAnswer<unknown>>>> = {
  async create() {
    const answer = await originator.create(body());
    if (answer.status === 201) await originator.cancel(answer.body.auction_id);
    return answer;
  },
  preflight: () => originator.preflightCreate(body()),
  async submit() {
    const answer = await maker.submit(empty.auction_id, { price_atoms: 500_000, quantity_atoms: CONTRACT });
    if (answer.status === 201) await maker.withdraw(answer.body);
    return answer;
  },
  async revise() {
    const [standing] = await maker.myQuotes(quoted.auction_id);
    const better = standing!.price_atoms - contract.price_tick_atoms;
    return maker.revise(standing!, { price_atoms: better, quantity_atoms: standing!.quantity_atoms });
  },
  check: () => maker.preflightQuote(empty.auction_id, 500_000, CONTRACT),
};

/** Changes data of another authority for this test only. */
async function decree(
  statement: string,
  values: unknown[],
  undoing: string,
  undoValues: unknown[],
): Promise<void> {
  undo.push(() => books.rows(undoing, undoValues));
  await books.rows(statement, values);
}

async function expectEach(
  which: readonly Act[],
  code: string,
  again = (): Promise<unknown> => Promise.resolve(),
): Promise<void> {
  for (const act of which) {
    await eventually(async () => {
      await again();
      expect([act, verdict(await acts[act]())]).toEqual([act, `422 ${code}`]);
    }, HEARD_WITHIN_MS);
  }
}

async function policyOf(column: string, value: unknown): Promise<void> {
  for (const { accountId } of [originator, maker]) {
    const [was] = await books.rows<{ was: unknown }>(
      `select to_jsonb(p) -> '${column}' as was from control.accounts_policy p where account_id = $1`,
      [accountId],
    );
    const change = `update control.accounts_policy set ${column} = $2 where account_id = $1`;
    await decree(change, [accountId, value], change, [accountId, was!.was]);
  }
}

describe('a halt', () => {
  it.each([
    ['GLOBAL', () => [null], 'SERVICE_HALTED'],
    ['VENUE', () => [VENUE], 'VENUE_HALTED'],
    ['MARKET', () => [contract.contract_id], 'MARKET_NOT_TRADABLE'],
    ['PRINCIPAL', () => [originator.accountId, maker.accountId], 'PRINCIPAL_SUSPENDED'],
  ] as const)('of scope %s applies to all creates, quotes and preflights', async (scope, targets, code) => {
    for (const target of targets()) {
      const halt = randomUUID();
      await decree(
        `insert into control.halts (halt_id, scope, target, what, reason, created_by, created_at)
         values ($1, $2, $3, array['CREATE', 'QUOTE'], 'test', 'test', now())`,
        [halt, scope, target],
        'delete from control.halts where halt_id = $1',
        [halt],
      );
    }
    await expectEach(EVERY, code);
  });
});

describe('the policy', () => {
  it.each([
    ['suspended', true, 'PRINCIPAL_SUSPENDED'],
    ['venues', ['venue_a'], 'PRINCIPAL_NOT_ENTITLED'],
    ['max_quantity_atoms', 1, 'UNAUTHORIZED_SIZE'],
  ])('with %s: %j applies to all creates, quotes and preflights', async (column, value, code) => {
    await policyOf(column, value);
    await expectEach(EVERY, code);
  });

  it('of a maker whose protection has tripped applies to all its quotes', async () => {
    await decree(
      `insert into control.protection_state (account_id, tripped_at, frozen_until) values ($1, now(), $2)`,
      [maker.accountId, LATER],
      'delete from control.protection_state where account_id = $1',
      [maker.accountId],
    );
    await expectEach(QUOTING, 'MMP_FROZEN');
  });
});

describe('a market', () => {
  const change = `update control.contracts set status = $2, closes_at = $3
    where (venue, contract_id) = ('${VENUE}', $1)`;

  it.each([
    ['pauses', 'PAUSED', LATER, EVERY, 'MARKET_NOT_TRADABLE'],
    ['closes too soon', 'TRADING', undefined, OPENING, 'MARKET_CLOSES_BEFORE_AUCTION'],
  ] as const)('that %s is not a valid route', async (_, status, closesAt, which, code) => {
    const [was] = await books.rows<{ closes_at: Date }>(
      `select closes_at from control.contracts where (venue, contract_id) = ('${VENUE}', $1)`,
      [contract.contract_id],
    );
    const soon = new Date(Date.now() + 45_000).toISOString();
    const usual = [contract.contract_id, 'TRADING', was!.closes_at];
    await decree(change, [contract.contract_id, status, closesAt ?? soon], change, usual);
    await expectEach(which, code);
    const page = await maker.api.get<{ contracts: { contract_id: string; status: string }[] }>(
      `/v1/contracts?venue=${VENUE}`,
    );
    expect(page.body.contracts.find(({ contract_id: id }) => id === contract.contract_id)).toMatchObject({
      status,
    });
  });
});

describe('a market that has closed', () => {
  it('is listed as such', async () => {
    const other = floor.contract(VENUE, 0);
    const change = `update control.contracts set status = $1 where (venue, contract_id) = ('${VENUE}', $2)`;
    await decree(change, ['CLOSED', other.contract_id], change, ['TRADING', other.contract_id]);
    const { body: page } = await maker.api.get<{ contracts: { contract_id: string; status: string }[] }>(
      '/v1/contracts',
    );
    expect(page.contracts.find(({ contract_id: id }) => id === other.contract_id)).toMatchObject({
      status: 'CLOSED',
    });
  });
});

describe('collateral', () => {
  it('that is fully reserved refuses a seller without tokens', async () => {
    const where = `account_id = $1 and venue = '${VENUE}' and resource = 'COLLATERAL'`;
    const [was] = await books.rows<{ amount: string }>(
      `select amount::text from risk.evidence where ${where}`,
      [maker.accountId],
    );
    const change = `update risk.evidence set amount = $2 where ${where}`;
    undo.push(() => books.rows(change, [maker.accountId, was!.amount]));
    await eventually(async () => {
      const held = await books.reserved(maker.accountId);
      // The ledger's next statement restores the evidence.
      await books.rows(change, [maker.accountId, held[`${VENUE}/COLLATERAL/`] ?? 0]);
      const [standing] = await maker.myQuotes(quoted.auction_id);
      const larger = standing!.quantity_atoms + CONTRACT;
      expect(verdict(await maker.revise(standing!, { quantity_atoms: larger }))).toBe(
        '422 INSUFFICIENT_INVENTORY',
      );
    }, HEARD_WITHIN_MS);
  });
});

describe('risk evidence', () => {
  const where = `account_id = any($1) and (venue = '${VENUE}' or venue = '')`;
  const accounts = (): string[] => [originator.accountId, maker.accountId];

  it.each([
    ['risk_valid_until', 'RISK_EVIDENCE_STALE'],
    ['authority_valid_until', 'AUTHORITY_EVIDENCE_STALE'],
  ])('whose %s has passed refuses all creates, quotes and preflights', async (column, code) => {
    const vouch = `update risk.evidence set ${column} = now() + $2::interval where ${where}`;
    undo.push(() => books.rows(vouch, [accounts(), '90 seconds']));
    // The ledger's worker may renew the evidence at any moment.
    await expectEach(EVERY, code, async () => {
      await books.rows(vouch, [accounts(), '-1 second']);
    });
  });

  it.each([
    ['VENUE_POSITION_LIMIT', 'VENUE_LIMIT_EXCEEDED'],
    ['SERVICE_EXPOSURE_LIMIT', 'SERVICE_CAPACITY_EXCEEDED'],
  ])('of a %s that is used up refuses commands that need more', async (resource, code) => {
    const rows = await books.rows<{ account_id: string; venue: string; amount: string }>(
      `select account_id, venue, amount::text from risk.evidence where ${where} and resource = $2`,
      [accounts(), resource],
    );
    const limit = 'update risk.evidence set amount = $4 where (account_id, venue, resource) = ($1, $2, $3)';
    // The ledger's worker may renew the evidence at any moment.
    const lower = async (): Promise<void> => {
      for (const row of rows) await books.rows(limit, [row.account_id, row.venue, resource, 10]);
    };
    for (const row of rows)
      undo.push(() => books.rows(limit, [row.account_id, row.venue, resource, row.amount]));
    await expectEach(['create', 'submit'], code, lower);
    await eventually(async () => {
      await lower();
      const [standing] = await maker.myQuotes(quoted.auction_id);
      const larger = standing!.quantity_atoms + CONTRACT;
      expect(verdict(await maker.revise(standing!, { quantity_atoms: larger }))).toBe(`422 ${code}`);
    }, HEARD_WITHIN_MS);
  });
});
