import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admissionMigrations } from '#libs/admission/migrations/list.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/test-database.js';
import { EvidenceFeed } from './evidence-feed.js';
import { custodyMigrations } from './migrations/list.js';

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
});
afterAll(() => database.drop());

function feed(faults: unknown[] = []): EvidenceFeed {
  return new EvidenceFeed(database.pool, clock, (error) => faults.push(error), SETTINGS);
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
  it('renews everything in chunks, and leaves alone what was renewed a moment ago', async () => {
    expect(await staleAfter(80)).toBe(ROWS);
    expect(await feed().renewAll()).toBe(ROWS);
    expect(await staleAfter(80)).toBe(0);
    expect(await feed().renewAll()).toBe(0);
  });

  it('takes back what was promised for longer than it promises itself', async () => {
    await database.pool.query(`update risk.evidence set risk_valid_until = now() + interval '1 day'`);
    expect(await feed().renewAll()).toBe(ROWS);
    expect(await staleAfter(95)).toBe(ROWS);
    expect(await feed().renewAll()).toBe(0);
  });

  it('changes neither amounts nor sequences', async () => {
    const { rows } = await database.pool.query('select distinct amount, source_sequence from risk.evidence');
    expect(rows).toEqual([{ amount: 5, source_sequence: 3 }]);
  });

  it('leaves the turn to another worker that has it', async () => {
    await database.pool.query('update risk.evidence set risk_valid_until = now()');
    const other = await database.pool.connect();
    await other.query('begin; select pg_advisory_xact_lock(7210554317)');
    expect(await feed().renewAll()).toBe(0);
    await other.query('commit');
    other.release();
    expect(await feed().renewAll()).toBe(ROWS);
  });

  it('starts at once, tells of a fault, and goes on', async () => {
    await database.pool.query('update risk.evidence set risk_valid_until = now()');
    await database.pool.query('alter table risk.evidence rename to away');
    const faults: unknown[] = [];
    const failing = feed(faults);
    await failing.start();
    await failing.stop();
    expect(faults).toHaveLength(1);
    await database.pool.query('alter table risk.away rename to evidence');
    const working = feed(faults);
    await working.start();
    await working.stop();
    expect(faults).toHaveLength(1);
    expect(await staleAfter(80)).toBe(0);
  });
});
