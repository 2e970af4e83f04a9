import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { tally, tallyMigrations, tallyRecords } from '#libs/testing/projections/tally.js';
import { Projector, transactionsOf } from '../projector.js';
import { Follower } from './follower.js';
import { projectionLag } from './lag.js';

jest.setTimeout(60_000);

const clock = new SystemClock();
/** Ten times as fast, for tests that do not depend on timing. */
const brisk: Clock = {
  epochNanos: () => clock.epochNanos(),
  monotonicNanos: () => clock.monotonicNanos(),
  after: (millis, action) => clock.after(millis / 10, action),
};
let database: TestDatabase;
const started: Follower[] = [];

beforeAll(async () => {
  database = await createTestDatabase(tallyMigrations);
});
afterAll(() => database.drop());
beforeEach(truncate);
afterEach(async () => {
  for (const follower of started.splice(0)) await follower.stop();
});

async function truncate(): Promise<void> {
  await database.pool.query('truncate tally.offsets, tally.counts');
}

/** The journals of several shards. A test reveals their records step by step. */
class GrowingJournals implements JournalReader {
  readonly shown = new Map<number, number>();
  unreadable = false;
  headless = false;
  /** An offset in shard 0 at which there is no record. */
  forgedAt = Infinity;
  /** Shards whose topics are not those that the database has seen. */
  readonly lost = new Set<number>();

  constructor(private readonly journals: ReadonlyMap<number, readonly JournalEntry[]>) {}

  show(shard: number, head: number): void {
    this.shown.set(shard, head);
  }

  async read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    await Promise.resolve();
    if (this.unreadable) throw new Error('the journal cannot be read');
    if (shard === 0 && fromSequence + limit > this.forgedAt) {
      throw new JournalCorrupt(shard, this.forgedAt, 'its hash is wrong');
    }
    const room = (this.shown.get(shard) ?? 0) - fromSequence + 1;
    const from = fromSequence - 1;
    return room <= 0 ? [] : (this.journals.get(shard) ?? []).slice(from, from + Math.min(limit, room));
  }

  entries(): Promise<JournalEntry[]> {
    throw new Error('single entries are not requested here');
  }

  async heads(shards = [...this.shown.keys()]): Promise<Map<number, number>> {
    if (this.headless) throw new Error('the ends of the journals cannot be told');
    const lost = shards.find((shard) => this.lost.has(shard));
    if (lost !== undefined) throw new StartFault(`shard ${lost}: topic is gone, or empty`, EXIT.damaged);
    return await Promise.resolve(new Map([...this.shown].filter(([shard]) => shards.includes(shard))));
  }
}

function journals(): GrowingJournals {
  return new GrowingJournals(new Map([0, 1, 2].map((shard) => [shard, tallyRecords(shard, 100)])));
}

function follow(reader: JournalReader, faults: unknown[] = [], paced: Clock = brisk): Follower {
  const { pool } = database;
  const follower = new Follower({
    pool,
    reader,
    projector: new Projector(tally, { inTransaction: transactionsOf(pool), clock }),
    clock: paced,
    shards: [0, 1, 2],
    onFault: (_what, error) => faults.push(error),
  });
  started.push(follower);
  follower.start();
  return follower;
}

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => expect(await what()).toBe(true));
}

async function positions(): Promise<number[]> {
  const { rows } = await database.pool.query<{ sequence: number }>(
    'select sequence from tally.offsets order by shard',
  );
  return rows.map(({ sequence }) => sequence);
}

async function isAt(...wanted: number[]): Promise<boolean> {
  return JSON.stringify(await positions()) === JSON.stringify(wanted);
}

describe('a follower', () => {
  it('brings every shard up to its head, and reports when it is done', async () => {
    const reader = journals();
    for (const shard of [0, 1, 2]) reader.show(shard, 40 + shard);
    const follower = follow(reader);
    expect(follower.hasCaughtUp).toBe(false);
    await until(() => follower.hasCaughtUp);
    expect(await positions()).toEqual([40, 41, 42]);
    expect(follower.isRenewing).toBe(true);
    reader.show(1, 60);
    await until(() => isAt(40, 60, 42));
    expect(follower.hasCaughtUp).toBe(true);
    reader.show(2, 50);
    expect(await projectionLag({ pool: database.pool, reader, projection: tally })).toContainEqual({
      shard: 2,
      head: 50,
      position: 42,
      lag: 8,
    });
  });

  it('follows shards that no other process follows, and takes over within a second', async () => {
    const reader = journals();
    reader.show(0, 10);
    const first = follow(reader, [], clock);
    await until(() => first.shards.size === 3);
    const second = follow(reader, [], clock);
    await until(() => second.hasCaughtUp);
    expect(second.shards.size).toBe(0);
    await first.stop();
    reader.show(0, 20);
    const begun = clock.monotonicNanos();
    await until(() => isAt(20));
    expect(Number(clock.monotonicNanos() - begun) / 1e6).toBeLessThan(1_000);
    expect(second.shards.size).toBe(3);
  });

  it('continues after its connections were cut', async () => {
    const reader = journals();
    reader.show(0, 10);
    const faults: unknown[] = [];
    const follower = follow(reader, faults);
    await until(() => isAt(10));
    await database.pool.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    reader.show(0, 30);
    await until(() => faults.length > 0 && follower.shards.size === 3);
    await until(() => isAt(30));
    const { rows } = await database.pool.query<{ held: number }>(
      `select count(*) as held from pg_locks where locktype = 'advisory' and granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    expect(rows).toEqual([{ held: 3 }]);
  });

  it('retries when the journal could not be read', async () => {
    const reader = journals();
    reader.unreadable = true;
    reader.show(0, 10);
    const faults: unknown[] = [];
    const follower = follow(reader, faults);
    await until(() => faults.length > 0);
    expect(follower.hasCaughtUp).toBe(false);
    reader.unreadable = false;
    await until(() => isAt(10));
  });

  it('restarts from the stored position if that is not the expected one', async () => {
    const reader = journals();
    reader.show(0, 10);
    follow(reader);
    await until(() => isAt(10));
    await truncate();
    reader.show(0, 20);
    await until(() => isAt(20));
  });

  it('does not touch a shard whose journal is not the projected one', async () => {
    const reader = journals();
    reader.show(0, 10);
    const follower = follow(reader);
    await until(() => isAt(10));
    await follower.stop();
    const other = new GrowingJournals(new Map([[0, tallyRecords(0, 100, 99)]]));
    other.show(0, 30);
    const faults: unknown[] = [];
    follow(other, faults);
    await until(() => faults.length > 0);
    await pause(clock, 300);
    expect(faults).toEqual([expect.any(JournalCorrupt)]);
    expect(await positions()).toEqual([10]);
  });

  it('does not continue a journal that was cut off before the offset, until it is whole again', async () => {
    const reader = journals();
    reader.show(0, 20);
    const follower = follow(reader);
    await until(() => isAt(20));
    await follower.stop();
    reader.show(0, 12);
    const faults: unknown[] = [];
    const successor = follow(reader, faults);
    await until(() => faults.length > 0);
    expect(successor.canRead).toBe(false);
    expect(faults).toEqual([expect.objectContaining({ shard: 0, sequence: 20 })]);
    reader.show(0, 25);
    await until(() => isAt(25));
    expect(successor.canRead).toBe(true);
  });

  it('stops at an invalid record, and continues by itself once that is removed', async () => {
    const reader = journals();
    reader.show(0, 10);
    reader.show(1, 10);
    const follower = follow(reader);
    await until(() => isAt(10, 10));
    reader.forgedAt = 11;
    reader.show(0, 11);
    await until(() => !follower.canRead);
    reader.show(1, 20);
    await until(() => isAt(10, 20));
    reader.forgedAt = Infinity;
    reader.show(0, 10);
    await until(() => follower.canRead);
    reader.show(0, 15);
    await until(() => isAt(15, 20));
  });

  it('follows the other shards if one is damaged from the start, and that one once it is repaired', async () => {
    const reader = journals();
    reader.show(0, 10);
    reader.show(1, 10);
    reader.lost.add(0);
    const faults: unknown[] = [];
    const follower = follow(reader, faults);
    await until(() => isAt(10));
    reader.show(1, 20);
    await until(() => isAt(20));
    expect([follower.canRead, follower.shards.size]).toEqual([false, 3]);
    expect(faults).toEqual([expect.objectContaining({ message: 'shard 0: topic is gone, or empty' })]);
    reader.lost.clear();
    await until(() => isAt(10, 20));
    await until(() => follower.canRead && follower.hasCaughtUp);
  });

  it('asks for a rebuild after projected records were removed, and continues after the rebuild', async () => {
    const reader = journals();
    reader.show(0, 10);
    const faults: unknown[] = [];
    const follower = follow(reader, faults);
    await until(() => isAt(10));
    // From here on the records are different.
    const mended = new GrowingJournals(new Map([[0, tallyRecords(0, 100, 99)]]));
    mended.show(0, 12);
    reader.read = (shard, from, limit) => mended.read(shard, from, limit);
    reader.show(0, 12);
    await until(() => !follower.canRead);
    await until(() => faults.some((fault) => String(fault).includes('projection -- rebuild')));
    expect(await positions()).toEqual([10]);
    await truncate();
    await until(() => isAt(12));
    expect(follower.canRead).toBe(true);
  });

  it('that lost its shards while it could not read notices when it can read again', async () => {
    const reader = journals();
    const follower = follow(reader);
    await until(() => follower.shards.size === 3);
    reader.headless = true;
    await until(() => !follower.canRead);
    const successor = follow(journals());
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
         and database = (select oid from pg_database where datname = current_database())`,
    );
    await until(() => successor.shards.size === 3);
    await until(() => follower.shards.size === 0);
    expect(follower.canRead).toBe(false);
    reader.headless = false;
    await until(() => follower.canRead);
    expect(successor.shards.size).toBe(3);
  });

  it('notices when it can no longer read, although it had caught up', async () => {
    const reader = journals();
    reader.show(0, 10);
    const follower = follow(reader);
    await until(() => follower.hasCaughtUp);
    reader.headless = true;
    await until(() => !follower.canRead);
    reader.headless = false;
    await until(() => follower.canRead);
  });
});
