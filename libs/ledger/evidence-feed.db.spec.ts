import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/auction/admission/migrations/list.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { pause } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { EvidenceFeed } from './evidence-feed.js';
import type { LedgerKey } from './ledger.js';
import { custodyMigrations } from './migrations/list.js';
import { publishEvidence } from './publish-evidence.js';

const ROWS = 2_500;
const SETTINGS = { ttlMillis: 90_000, renewEveryMillis: 30_000, chunk: 400 };
const clock = new SystemClock();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([...admissionMigrations, ...custodyMigrations]);
  await database.pool.query(
    `insert into risk.evidence (account_id, venue, resource, amount, source_sequence, risk_valid_until, authority_valid_until)
     select 'account-' || n % 500, 'venue_' || n, 'COLLATERAL', 5, 3, now(), now() from generate_series(1, $1) n`,
    [ROWS],
  );
  await database.pool.query(
    `insert into custody.balances select account_id, 'vault', venue, asset, 'available', amount from risk.evidence`,
  );
});
afterAll(() => database.drop());

interface Heard {
  readonly faults: unknown[];
  readonly spoiled: LedgerKey[];
}

function heard(): Heard {
  return { faults: [], spoiled: [] };
}

function feed({ faults, spoiled }: Heard = heard()): EvidenceFeed {
  const witness = {
    fault: (error: unknown) => faults.push(error),
    spoiled: (keys: readonly LedgerKey[]) => spoiled.push(...keys),
  };
  return new EvidenceFeed(database.pool, clock, witness, SETTINGS);
}

async function staleAfter(seconds: number): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int as count from risk.evidence
     where least(risk_valid_until, authority_valid_until) < now() + make_interval(secs => $1)`,
    [seconds],
  );
  return rows[0]?.count ?? -1;
}

describe('evidence feed', () => {
  it('renews all rows in chunks, and skips those renewed a moment ago', async () => {
    expect(await staleAfter(80)).toBe(ROWS);
    expect(await feed().renewAll()).toBe(ROWS);
    expect(await staleAfter(80)).toBe(0);
    expect(await feed().renewAll()).toBe(0);
  });

  it('shortens validity that exceeds its own', async () => {
    await database.pool.query(`update risk.evidence set risk_valid_until = now() + interval '1 day'`);
    expect(await feed().renewAll()).toBe(ROWS);
    expect(await staleAfter(95)).toBe(ROWS);
    expect(await feed().renewAll()).toBe(0);
  });

  it('changes neither amounts nor sequences', async () => {
    const { rows } = await database.pool.query('select distinct amount, source_sequence from risk.evidence');
    expect(rows).toEqual([{ amount: 5, source_sequence: 3 }]);
  });

  it('skips its round while another worker has the lock', async () => {
    await database.pool.query('update risk.evidence set risk_valid_until = now()');
    const other = await database.pool.connect();
    await other.query('begin; select pg_advisory_xact_lock(7210554317)');
    expect(await feed().renewAll()).toBe(0);
    await other.query('commit');
    other.release();
    expect(await feed().renewAll()).toBe(ROWS);
  });

  it('knows how long its evidence stays valid, and renews nothing while another worker has the lock', async () => {
    const one = feed();
    expect(one.holdsSeconds).toBe(0);
    const other = await database.pool.connect();
    await other.query('begin; select pg_advisory_xact_lock(7210554317)');
    await one.start();
    await other.query('commit');
    other.release();
    expect(one.holdsSeconds).toBe(0);
    await one.stop();
    const working = feed();
    await working.start();
    await working.stop();
    const held = working.holdsSeconds;
    expect(held).toBeGreaterThan(80);
    expect(held).toBeLessThanOrEqual(90);
    await pause(clock, 1_100);
    expect(held - working.holdsSeconds).toBeGreaterThanOrEqual(1);
  });

  it('starts at once, reports a fault, and continues', async () => {
    await database.pool.query('update risk.evidence set risk_valid_until = now()');
    await database.pool.query('alter table risk.evidence rename to away');
    const told = heard();
    const failing = feed(told);
    await failing.start();
    await failing.stop();
    expect(failing.holdsSeconds).toBe(0);
    expect(told.faults).toHaveLength(1);
    await database.pool.query('alter table risk.away rename to evidence');
    const working = feed(told);
    await working.start();
    await working.stop();
    expect(told.faults).toHaveLength(1);
    expect(await staleAfter(80)).toBe(0);
  });

  it('retries soon after a fault, not with the next regular round, even if the lock is still held', async () => {
    await database.pool.query('update risk.evidence set risk_valid_until = now()');
    await database.pool.query('alter table risk.evidence rename to away');
    const told = heard();
    const failing = feed(told);
    await failing.start();
    expect(told.faults).toHaveLength(1);
    const other = await database.pool.connect();
    await other.query('begin; select pg_advisory_xact_lock(7210554317)');
    await database.pool.query('alter table risk.away rename to evidence');
    await pause(clock, 1_500);
    expect(failing.holdsSeconds).toBe(0);
    await other.query('commit');
    other.release();
    await eventually(async () => {
      expect(await staleAfter(80)).toBe(0);
      expect(failing.holdsSeconds).toBeGreaterThan(80);
    }, 3_000);
    await failing.stop();
  });
});

describe('evidence that differs from the ledger', () => {
  const KEY = { account: 'account-1', venue: 'venue_1', asset: '' };
  const ROW = `account_id = 'account-1' and venue = 'venue_1'`;

  beforeAll(async () => {
    await database.pool.query(`
      insert into custody.balances values ('account-1', 'vault', 'venue_1', 'contract/YES', 'available', 30);
      insert into custody.limits values
        ('account-1', 'venue_1', 'VENUE_POSITION_LIMIT', 100), ('account-1', '', 'SERVICE_EXPOSURE_LIMIT', 1000)`);
    await feed().renewAll();
  });

  async function stated(): Promise<Record<string, number>> {
    const { rows } = await database.pool.query<{ resource: string; amount: number }>(
      `select resource, amount from risk.evidence where account_id = 'account-1' and venue in ('venue_1', '') order by 1`,
    );
    return Object.fromEntries(rows.map(({ resource, amount }) => [resource, amount]));
  }

  const TRUE = {
    COLLATERAL: 5,
    OUTCOME_TOKEN: 30,
    SERVICE_EXPOSURE_LIMIT: 1000,
    VENUE_POSITION_LIMIT: 70,
  };

  it.each([
    ['a negative amount', `update risk.evidence set amount = -5 where ${ROW} and resource = 'COLLATERAL'`],
    ['an invented amount', `update risk.evidence set amount = 1000000 where ${ROW} and asset <> ''`],
    [
      'a limit that was never set',
      `update risk.evidence set amount = 9 where account_id = 'account-1' and venue = ''`,
    ],
    [
      'a limit that ignores holdings',
      `update risk.evidence set amount = 100 where ${ROW} and resource like 'VENUE%'`,
    ],
    ['an impossible sequence', `update risk.evidence set source_sequence = 0 where ${ROW}`],
    ['an impossible settled amount', `update risk.evidence set settled = -1 where ${ROW}`],
    ['missing rows', `delete from risk.evidence where account_id = 'account-1' and venue in ('venue_1', '')`],
  ])('is not renewed but restated: %s', async (_, statement) => {
    expect(await stated()).toEqual(TRUE);
    await database.pool.query(statement);
    const told = heard();
    await feed(told).renewAll();
    expect(await stated()).toEqual(TRUE);
    expect(told.faults).toEqual([]);
    expect(told.spoiled).toContainEqual(expect.objectContaining({ account: 'account-1' }));
    const { rows } = await database.pool.query<{ broken: number }>(
      `select count(*)::int as broken from risk.evidence
       where settled <> 0 or source_sequence < 1 or risk_valid_until < now() + interval '80 seconds'`,
    );
    expect(rows).toEqual([{ broken: 0 }]);
    const again = heard();
    await feed(again).renewAll();
    expect(again.spoiled).toEqual([]);
  });

  it('is set to zero if the ledger has no such row', async () => {
    await database.pool.query(
      `insert into risk.evidence values ('account-1', 'venue_1', 'OUTCOME_TOKEN', 'other/NO', 7, 0, 1, now(), now())`,
    );
    await feed().renewAll();
    const { rows } = await database.pool.query(`select amount from risk.evidence where asset = 'other/NO'`);
    await database.pool.query(`delete from risk.evidence where asset = 'other/NO'`);
    expect(rows).toEqual([{ amount: 0 }]);
  });

  it('is compared after a running settlement, not during it', async () => {
    await database.pool.query(
      `update risk.evidence set amount = 6 where ${ROW} and asset = '' and resource = 'COLLATERAL'`,
    );
    const settling = await database.pool.connect();
    await settling.query('begin');
    await settling.query(`select from custody.lock_balances('{account-1}', '{venue_1}', '{""}')`);
    await settling.query(`update custody.balances set amount = 4 where ${ROW} and asset = ''`);
    await publishEvidence(settling, [KEY], instantFromNanos(clock.epochNanos()));
    const told = heard();
    const round = feed(told).renewAll();
    await eventually(async () => {
      const { rows } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect([rows.length, told.spoiled]).toEqual([1, [KEY]]);
    });
    await settling.query('commit');
    settling.release();
    await round;
    expect(await stated()).toEqual({ ...TRUE, COLLATERAL: 4 });
    const { rows } = await database.pool.query(
      `select settled from risk.evidence where ${ROW} and resource = 'COLLATERAL'`,
    );
    expect(rows).toEqual([{ settled: 2 }]);
  });
});
