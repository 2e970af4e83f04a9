import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '../admission/migrations/list.js';
import { holdFor } from '../rules/holds.js';
import { instantFromNanos, plusMillis } from '#libs/base/instant.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import {
  failAsJournaled,
  settleAsJournaled,
  shortfallsOf,
  type SettledAward,
  type Shortfall,
} from './journaled-settlements.js';
import type { Entry } from '#libs/ledger/ledger.js';
import { custodyMigrations } from '#libs/ledger/migrations/list.js';
import { PostgresSettlement } from './postgres-settlement.js';
import { seedBalances } from '#libs/ledger/seed.js';
import type { AwardToSettle } from './settlement.js';

const A = { venue: 'venue_a', contract_id: 'rain', outcome: 'YES' };
const B = { ...A, venue: 'venue_b' };
const CONTRACT = 1_000_000;
const PRICE = 400_000;
/** Just enough for the awards that are settled here. */
const START = { ann: 1_600_000, bob: 800_000 };
const clock = new SystemClock();
const now = instantFromNanos(clock.epochNanos());
const moment = { now, evidenceTtlMillis: 60_000 };
let lost: TestDatabase;
let restored: TestDatabase;

function startOn(venue: string): Entry[] {
  return Object.entries(START).map(([account, amount]) => ({ account, venue, asset: '', amount }));
}

async function withMoney(): Promise<TestDatabase> {
  const database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
  await seedBalances(database.pool, startOn('venue_a'), [], moment);
  return database;
}

beforeEach(async () => {
  [lost, restored] = await Promise.all([withMoney(), withMoney()]);
});
afterEach(() => Promise.all([lost.drop(), restored.drop()]));

function award(buyer: string, seller: string, tokens = 0, routes = [A]): AwardToSettle {
  const need = { routes, price_atoms: PRICE, quantity_atoms: CONTRACT, parts: 1 };
  return {
    award_id: randomUUID(),
    auction_id: randomUUID(),
    attempts: 0,
    deadline: plusMillis(now, 60_000),
    price_atoms: PRICE,
    quantity_atoms: CONTRACT,
    routes,
    buyer: { account: buyer, hold: holdFor({ ...need, side: 'BUY' }, () => 0) },
    seller: { account: seller, hold: holdFor({ ...need, side: 'SELL' }, () => tokens) },
  };
}

/** Settles these awards in this order in the ledger that is going to be lost. Returns what the journal records. */
async function settled(...awards: readonly AwardToSettle[]): Promise<SettledAward[]> {
  const desk = new PostgresSettlement(lost.pool, clock, () => 0);
  const recorded: SettledAward[] = [];
  for (const one of awards) {
    const result = await desk.settle(one);
    if (result.outcome !== 'SETTLED') throw new Error(result.outcome);
    recorded.push({ award: one, settlement: result.settlement });
  }
  return recorded;
}

function settleAgain(awards: readonly SettledAward[]): Promise<Shortfall[]> {
  return withTransaction(restored.pool, 'read committed', async (client) => {
    const lacking = await shortfallsOf(client, awards);
    if (lacking.length === 0) await settleAsJournaled(client, awards, moment);
    return lacking;
  });
}

async function ledgerOf({ pool }: TestDatabase): Promise<unknown> {
  const texts = [
    'select account_id, venue, asset, amount from custody.balances where amount <> 0 order by 1, 2, 3',
    'select account_id, venue, resource, asset, amount from risk.evidence where amount <> 0 order by 1, 2, 3, 4',
    'select award_id, outcome, venue, asset, delivered_atoms, reason from custody.settlements order by 1',
    `select award_id, account_id, e.venue, e.asset, amount from custody.settlements
       join custody.entries e using (transaction_id) order by 1, 2, 3, 4`,
  ];
  return await Promise.all(texts.map(async (text) => (await pool.query<object>(text)).rows));
}

describe('a ledger that is settled again from the journals', () => {
  it('equals the lost one, entry by entry, in whatever order the awards come', async () => {
    // Each depends on the one before: bob sells what he has bought, and pays with what he received.
    const awards = await settled(
      award('bob', 'ann'),
      award('bob', 'ann'),
      award('ann', 'bob', CONTRACT),
      award('bob', 'ann', CONTRACT),
      award('ann', 'bob', CONTRACT),
    );
    expect(await settleAgain(awards.toReversed())).toEqual([]);
    expect(await ledgerOf(restored)).toEqual(await ledgerOf(lost));
  });

  it('uses the recorded route, even if another one has become possible', async () => {
    const both = [A, B];
    for (const { pool } of [lost, restored]) await seedBalances(pool, startOn('venue_b'), [], moment);
    const poor = award('bob', 'ann');
    const awards = await settled(poor, award('bob', 'ann'), award('bob', 'ann', 0, both));
    expect(awards.map(({ settlement }) => settlement.venue)).toEqual(['venue_a', 'venue_a', 'venue_b']);
    expect(await settleAgain(awards.slice(2))).toEqual([]);
    expect(await settleAgain(awards.slice(0, 2))).toEqual([]);
    expect(await ledgerOf(restored)).toEqual(await ledgerOf(lost));
  });

  it('reports the shortfall if a later payment is missing, and moves nothing', async () => {
    const payment = { account: 'cat', venue: 'venue_a', asset: '', amount: 2 * PRICE };
    await seedBalances(lost.pool, [payment], [], moment);
    const awards = await settled(award('cat', 'ann'), award('cat', 'ann'));
    const before = await ledgerOf(restored);
    expect(await settleAgain(awards)).toEqual([payment]);
    expect(await ledgerOf(restored)).toEqual(before);
    await seedBalances(restored.pool, [payment], [], moment);
    expect(await settleAgain(awards)).toEqual([]);
    expect(await ledgerOf(restored)).toEqual(await ledgerOf(lost));
  });

  it('refuses a second settlement, and a route that the auction did not have', async () => {
    const [one] = (await settled(award('bob', 'ann'))) as [SettledAward];
    expect(await settleAgain([one])).toEqual([]);
    const once = await ledgerOf(restored);
    await expect(settleAgain([one])).rejects.toMatchObject({ code: '23505' });
    const strange = { ...one, settlement: { ...one.settlement, venue: 'venue_b' } };
    await expect(settleAgain([strange])).rejects.toThrow('cannot have been settled as');
    const tooMuch = { ...one, settlement: { ...one.settlement, delivered_atoms: CONTRACT + 1 } };
    await expect(settleAgain([tooMuch])).rejects.toThrow('cannot have been settled as');
    expect(await ledgerOf(restored)).toEqual(once);
  });

  it('keeps a failed award failed', async () => {
    const [failed] = [award('bob', 'ann')];
    const desk = new PostgresSettlement(restored.pool, clock, () => 0);
    await withTransaction(restored.pool, 'read committed', (client) =>
      failAsJournaled(client, [{ award_id: failed.award_id, reason: 'too late' }], moment),
    );
    expect(await desk.settle(failed)).toMatchObject({ outcome: 'FAILED', reason: 'too late' });
  });
});
