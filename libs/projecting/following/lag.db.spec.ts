import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { tally, tallyMigrations } from '#libs/testing/projections/tally.js';
import { LagMonitor } from './lag.js';

const SHARDS = [0, 1, 2];
const POLL_MS = 2_000;
const ALL = new Set(SHARDS);

jest.setTimeout(60_000);

let database: TestDatabase;
let polls: Pool;
let clock: MovableClock;
let heads: Map<number, number | Promise<number>>;
let faults: string[];
let lag: LagMonitor;

beforeAll(async () => {
  database = await createTestDatabase(tallyMigrations);
});
afterAll(() => database.drop());

beforeEach(async () => {
  polls = openPool(database.url, {
    applicationName: 'polls',
    max: 1,
    statementTimeoutMs: 300,
    answerTimeoutMs: 1_000,
  });
  await database.pool.query('truncate tally.offsets');
  for (const shard of SHARDS) await stand(shard, 10);
  clock = new MovableClock();
  heads = new Map(SHARDS.map((shard) => [shard, 10 + shard]));
  faults = [];
  const reader = {
    heads: async ([shard = 0]: readonly number[]) => new Map([[shard, await heads.get(shard)!]]),
  };
  lag = new LagMonitor({
    pool: polls,
    projection: tally,
    reader: reader as Pick<JournalReader, 'heads'> as JournalReader,
    clock,
    shards: SHARDS,
    onFault: (what) => faults.push(what),
  });
  lag.start();
  await eventually(() => expect(lag.known).toHaveLength(3));
});
afterEach(async () => {
  lag.stop();
  clock.forgetTimers();
  await polls.end();
});

async function stand(shard: number, sequence: number): Promise<void> {
  await database.pool.query(
    `insert into tally.offsets (shard, epoch, sequence, hash) values ($1, 1, $2, sha256(''))
     on conflict (shard) do update set sequence = excluded.sequence`,
    [shard, sequence],
  );
}

/** Advances time at the pace of the polls, so that each can be answered. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds * 1_000; passed += POLL_MS) {
    clock.leap(POLL_MS);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

describe('the lag of projections', () => {
  it('is renewed by itself', async () => {
    expect(lag.known).toEqual(SHARDS.map((shard) => ({ shard, position: 10, lag: shard })));
    await stand(2, 12);
    heads.set(0, 15);
    await pass(4);
    await eventually(() => {
      expect(lag.known.map((known) => known.lag)).toEqual([5, 1, 0]);
    });
    expect([lag.seesPositions, lag.seesHeads]).toEqual([true, true]);
  });

  it('keeps its last value while the positions are locked; its age grows, and it counts as old', async () => {
    const locker = await database.pool.connect();
    await locker.query('begin; lock table tally.offsets in access exclusive mode');
    try {
      heads.set(0, 50);
      clock.leap(POLL_MS);
      await eventually(() => expect(faults).toContain('positions'));
      expect(lag.seesPositions).toBe(false);
      expect(lag.seesHeads).toBe(true);
      await eventually(() => expect(lag.known[0]).toEqual({ shard: 0, position: 10, lag: 40 }));
      expect(Math.min(...lag.ages.map(({ seconds }) => seconds))).toBeGreaterThanOrEqual(2);
    } finally {
      await locker.query('rollback');
      locker.release();
    }
    await eventually(() => {
      clock.leap(POLL_MS);
      expect(lag.seesPositions).toBe(true);
    });
  });

  it('is old only for the shard whose journal does not answer', async () => {
    heads.set(1, new Promise(() => undefined));
    await pass(14);
    const old = lag.ages.filter(({ seconds }) => seconds > 10).map(({ shard }) => shard);
    expect(old).toEqual([1]);
    expect([lag.seesPositions, lag.seesHeads]).toEqual([true, false]);
    expect(lag.known).toHaveLength(3);
  });

  it('shows a stalled shard when nothing of its backlog was projected for long', async () => {
    await stand(2, 12);
    heads.set(1, 12);
    await pass(20);
    expect(lag.stands(ALL)).toBe(false);
    await pass(20);
    expect(lag.stands(ALL)).toBe(true);
    expect([lag.stands(new Set([1])), lag.stands(new Set([0, 2])), lag.stands(new Set())]).toEqual([
      true,
      false,
      false,
    ]);
    await stand(1, 11);
    await pass(4);
    await eventually(() => expect(lag.stands(ALL)).toBe(false));
  });

  it('shows a shard as stalled, and not projected, when its offset is past the end of the journal', async () => {
    await stand(2, 12);
    heads.set(1, 11);
    await stand(1, 1_000);
    await pass(20);
    expect([lag.stands(ALL), lag.known[1]!.lag]).toEqual([false, 0]);
    heads.set(1, 13);
    await pass(20);
    expect([lag.stands(new Set([1])), lag.known[1]]).toEqual([true, { shard: 1, position: 1_000, lag: 13 }]);
    await stand(1, 13);
    await pass(4);
    await eventually(() => expect([lag.stands(ALL), lag.known[1]!.lag]).toEqual([false, 0]));
  });
});
