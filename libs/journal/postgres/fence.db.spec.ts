import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { events, freshShard, until } from '#libs/testing/contracts/journal-subject.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { JournalWriter } from '../journal.js';
import { JournalCorrupt, JournalFenced } from '../journal-errors.js';
import { journalMigrations } from '../migrations/list.js';
import { PostgresJournal } from './postgres-journal.js';
import { PostgresJournalReader } from './postgres-reader.js';
import { Session } from './session.js';

const clock = new SystemClock();
const writers: JournalWriter[] = [];
const obstacles = new Set<PoolClient>();
let database: TestDatabase;
let reader: PostgresJournalReader;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
  reader = new PostgresJournalReader(database.pool, 'auction');
});

afterEach(async () => {
  for (const obstacle of obstacles) await release(obstacle, 'rollback');
  await Promise.all(writers.splice(0).map((writer) => writer.close()));
});

afterAll(() => database.drop());

async function open(shard: number, opener = 'ada'): Promise<JournalWriter> {
  const writer = await new PostgresJournal({ family: 'auction', url: database.url, clock, opener }).open(
    shard,
  );
  writers.push(writer);
  return writer;
}

/** Inserts a record without committing, so that any other write at that sequence waits for the outcome. */
async function occupy(shard: number, sequence: number): Promise<PoolClient> {
  const client = await database.pool.connect();
  obstacles.add(client);
  await client.query('begin');
  await client.query(
    `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash)
     values ('auction', $1, $2, 1, 'event', '"rogue"', decode(repeat('ab', 32), 'hex'))`,
    [shard, sequence],
  );
  return client;
}

async function release(client: PoolClient, end: 'commit' | 'rollback'): Promise<void> {
  obstacles.delete(client);
  await client.query(end);
  client.release();
}

/** Waits until this many of the journal's connections wait for a lock. */
function untilWaiting(count: number): Promise<void> {
  return until(clock, async () => {
    const { rows } = await database.pool.query<{ waiting: number }>(
      `select count(*) as waiting from pg_stat_activity
       where datname = current_database() and application_name = 'sotto-journal' and wait_event_type = 'Lock'`,
    );
    return rows[0]!.waiting >= count;
  });
}

describe('an append that holds the shard', () => {
  it('blocks an opener, which then continues after it', async () => {
    const shard = freshShard();
    const first = await open(shard);
    const obstacle = await occupy(shard, 2);
    const append = first.append(['"in time"']);
    await untilWaiting(1);
    const otherOwner = open(shard, 'ben');
    await untilWaiting(2);
    await release(obstacle, 'rollback');
    expect((await append).firstSequence).toBe(2);
    expect((await otherOwner).head).toMatchObject({ epoch: 2, sequence: 3 });
    await expect(first.append(['"late"'])).rejects.toBeInstanceOf(JournalFenced);
    expect(await events(reader, shard)).toEqual(['"in time"']);
  });
});

describe('an opener that holds the shard', () => {
  it('blocks an append, which then writes nothing', async () => {
    const shard = freshShard();
    const first = await open(shard);
    const obstacle = await occupy(shard, 2);
    const otherOwner = open(shard, 'ben');
    await untilWaiting(1);
    const append = first.append(['"late"', '"later"']);
    const refused = expect(append).rejects.toBeInstanceOf(JournalFenced);
    await untilWaiting(2);
    await release(obstacle, 'rollback');
    expect((await otherOwner).head).toMatchObject({ epoch: 2, sequence: 2 });
    await refused;
    expect(await events(reader, shard)).toEqual([]);
  });

  it('blocks other openers, which depose it in turn', async () => {
    const shard = freshShard();
    const obstacle = await occupy(shard, 1);
    const openers = ['ada', 'ben', 'cyd'].map((opener) => open(shard, opener));
    await untilWaiting(3);
    await release(obstacle, 'rollback');
    const opened = await Promise.all(openers);
    expect(opened.map(({ head }) => head.epoch).sort()).toEqual([1, 2, 3]);
    const outcomes = await Promise.allSettled(
      opened.map((writer) => writer.append([`"${writer.head.epoch}"`])),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await events(reader, shard)).toEqual(['"3"']);
  });
});

describe('a process that writes past the fence', () => {
  it('ends the writer whose position was taken, and is detected', async () => {
    const shard = freshShard();
    const writer = await open(shard);
    const rogue = await occupy(shard, 3);
    const append = writer.append(['"mine"', '"mine too"']);
    const refused = expect(append).rejects.toBeInstanceOf(JournalFenced);
    await untilWaiting(1);
    await release(rogue, 'commit');
    await refused;
    await expect(reader.read(shard, 1, 10)).rejects.toMatchObject({ name: 'JournalCorrupt', sequence: 2 });
    await expect(open(shard, 'ben')).rejects.toBeInstanceOf(JournalCorrupt);
  });

  it('is detected by the next opener after resetting the epoch', async () => {
    const shard = freshShard();
    await open(shard);
    await open(shard);
    await database.pool.query('delete from journal.shards where shard = $1', [shard]);
    await expect(open(shard)).rejects.toBeInstanceOf(JournalCorrupt);
  });
});

describe('a server whose defaults are weak', () => {
  it('still makes durable commits with the isolation that the fence needs', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.query(`alter database ${name} set synchronous_commit to off`);
    await database.pool.query(
      `alter database ${name} set default_transaction_isolation to 'repeatable read'`,
    );
    try {
      const shard = freshShard();
      const first = await open(shard);
      const obstacle = await occupy(shard, 2);
      const otherOwner = open(shard, 'ben');
      await untilWaiting(1);
      const refused = expect(first.append(['"late"'])).rejects.toBeInstanceOf(JournalFenced);
      await untilWaiting(2);
      await release(obstacle, 'rollback');
      await otherOwner;
      await refused;
      const session = await Session.connect(database.url, clock, 5_000);
      const shown = await session.query({ text: 'show synchronous_commit' }, 5_000);
      await session.end();
      expect(shown.rows).toEqual([{ synchronous_commit: 'on' }]);
    } finally {
      await database.pool.query(`alter database ${name} reset all`);
    }
  });
});
