import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { pause } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { ISSUER, lockAllOn, postOpening, type LedgerKey } from './ledger.js';
import { custodyMigrations } from './migrations/list.js';
import { enterLimit, enterOpening, type OpeningResult } from './openings.js';
import { publishEvidence } from './publish-evidence.js';

const NOW = '2026-11-20T12:00:00.000000000Z';
const MOMENT = { now: NOW, evidenceTtlMillis: 60_000 };
const A_WHILE = 200;
const clock = new SystemClock();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
});
afterAll(() => database.drop());

function inTransaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withTransaction(database.pool, 'read committed', work);
}

function opened(key: LedgerKey, amount: number, reference: string): Promise<OpeningResult> {
  return inTransaction((client) => enterOpening(client, { ...key, amount, reference }, MOMENT));
}

async function evidenceOf(account: string): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ name: string; amount: number }>(
    `select resource || ' ' || asset as name, amount from risk.evidence where account_id = $1`,
    [account],
  );
  return Object.fromEntries(rows.map(({ name, amount }) => [name.trim(), amount]));
}

describe('an opening', () => {
  it('is entered once, however many callers enter it at the same time', async () => {
    const key = { account: 'ada', venue: 'venue_a', asset: '' };
    const results = await Promise.all(Array.from({ length: 8 }, () => opened(key, 700, 'wire-1')));
    expect(results.sort()).toEqual(['entered', ...Array.from({ length: 7 }, () => 'known')]);
    expect(await evidenceOf('ada')).toEqual({ COLLATERAL: 700 });
    expect(await opened(key, 300, 'wire-2')).toBe('entered');
    expect(await evidenceOf('ada')).toEqual({ COLLATERAL: 1_000 });
    const { rows } = await database.pool.query('select sum(amount)::int as sum from custody.entries');
    expect(rows).toEqual([{ sum: 0 }]);
  });

  it.each([
    ['another amount', { account: 'ada', venue: 'venue_a', asset: '' }, 701],
    ['another account', { account: 'ben', venue: 'venue_a', asset: '' }, 700],
    ['another venue', { account: 'ada', venue: 'venue_b', asset: '' }, 700],
    ['another asset', { account: 'ada', venue: 'venue_a', asset: 'rain/YES' }, 700],
  ])('is not taken for one of %s', async (_what, key, amount) => {
    expect(await opened(key, amount, 'wire-1')).toBe('different');
  });

  it('is refused as too large before any sum becomes inexact', async () => {
    const key = { account: 'eve', venue: 'venue_e', asset: '' };
    expect(await opened(key, Number.MAX_SAFE_INTEGER, 'all')).toBe('entered');
    await expect(
      inTransaction(async (client) => {
        const result = await enterOpening(
          client,
          { ...key, account: 'fay', amount: 1, reference: 'x' },
          MOMENT,
        );
        throw new Error(result);
      }),
    ).rejects.toThrow('too much');
  });
});

describe('a limit', () => {
  it('waits for a settlement that holds the balances, and counts what that leaves', async () => {
    const place = { account: 'mia', venue: 'venue_a' };
    await opened({ ...place, asset: '' }, 1_000, 'mia-1');
    const settling = await database.pool.connect();
    await settling.query('begin');
    await lockAllOn(settling, [place]);
    let isSet = false;
    const limit = { ...place, resource: 'VENUE_POSITION_LIMIT' as const, amount: 5_000 };
    const setting = inTransaction((client) => enterLimit(client, limit, MOMENT)).then(() => (isSet = true));
    await pause(clock, A_WHILE);
    expect(isSet).toBe(false);
    const token = { ...place, asset: 'rain/YES' };
    await postOpening(
      settling,
      'mia-2',
      [
        { ...token, amount: 2_000 },
        { ...token, account: ISSUER, amount: -2_000 },
      ],
      NOW,
    );
    await publishEvidence(settling, [token], NOW);
    await settling.query('commit');
    settling.release();
    await setting;
    expect(await evidenceOf('mia')).toEqual({
      COLLATERAL: 1_000,
      'OUTCOME_TOKEN rain/YES': 2_000,
      VENUE_POSITION_LIMIT: 3_000,
    });
  });
});
