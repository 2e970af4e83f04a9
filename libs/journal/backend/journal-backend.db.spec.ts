import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { JournalWriter } from '../journal.js';
import { journalMigrations } from '../migrations/list.js';
import { PostgresJournal } from '../postgres/postgres-journal.js';
import { JournalBackend, WrongBackend } from './journal-backend.js';

const BACKEND = { clusterId: 'cluster', topicPrefix: 'here.' };
const clock = new SystemClock();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
});
beforeEach(() => database.pool.query('truncate journal.shards, journal.records, journal.home'));
afterAll(() => database.drop());

function openInPostgres(): Promise<JournalWriter> {
  return new PostgresJournal({ family: 'auction', url: database.url, opener: 'test', clock }).open(0);
}

async function untilOneWaits(): Promise<void> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await eventually(async () => expect((await database.pool.query(text)).rowCount).toBe(1));
}

/** Records the outcome of the work once there is one. */
function watched(work: Promise<unknown>): { outcome: unknown; done: Promise<unknown> } {
  const observed = { outcome: 'nothing yet' as unknown, done: Promise.resolve() as Promise<unknown> };
  observed.done = work.then(
    () => (observed.outcome = 'done'),
    (error: unknown) => (observed.outcome = error),
  );
  return observed;
}

describe('when two processes begin a journal at once in different stores, one is refused:', () => {
  it('the one that opens a shard in PostgreSQL while another settles Kafka', async () => {
    const settling = await database.pool.connect();
    await settling.query('begin');
    await settling.query('lock table journal.shards in share row exclusive mode');
    await settling.query(
      `insert into journal.home (family, cluster_id, topic_prefix) values ('auction', 'cluster', 'here.')`,
    );
    const opening = watched(openInPostgres());
    await untilOneWaits();
    expect(opening.outcome).toBe('nothing yet');
    await settling.query('commit');
    settling.release();
    await opening.done;
    expect(opening.outcome).toBeInstanceOf(WrongBackend);
    expect((await database.pool.query('select from journal.shards')).rowCount).toBe(0);
  });

  it('the one that settles Kafka while another opens a shard in PostgreSQL', async () => {
    const opening = await database.pool.connect();
    await opening.query('begin');
    await opening.query(`insert into journal.shards values ('auction', 0, 1)`);
    const settling = watched(JournalBackend.settle(database.pool, 'auction', BACKEND));
    await untilOneWaits();
    expect(settling.outcome).toBe('nothing yet');
    await opening.query('commit');
    opening.release();
    await settling.done;
    expect(settling.outcome).toMatchObject({ message: expect.stringContaining('are in PostgreSQL') });
    expect(await new JournalBackend(database.pool, 'auction').isSettled()).toBe(false);
  });

  it('the one that moves them to Kafka while another opens a shard in PostgreSQL', async () => {
    const opening = await database.pool.connect();
    await opening.query('begin');
    await opening.query(`insert into journal.shards values ('auction', 0, 1)`);
    const client = await database.pool.connect();
    const checkUnchanged = async (): Promise<void> => {
      const { rowCount } = await database.pool.query('select from journal.shards');
      if (rowCount !== 0) throw new Error('it has changed');
    };
    const moving = watched(new JournalBackend(client, 'auction').move(BACKEND, checkUnchanged));
    await untilOneWaits();
    expect(moving.outcome).toBe('nothing yet');
    await opening.query('commit');
    opening.release();
    await moving.done;
    client.release();
    expect(moving.outcome).toMatchObject({ message: 'it has changed' });
    expect(await new JournalBackend(database.pool, 'auction').isSettled()).toBe(false);
  });

  it('the one that settles another Kafka', async () => {
    const backends = ['here.', 'there.', 'nowhere.'].map((topicPrefix) => ({ ...BACKEND, topicPrefix }));
    const settled = await Promise.allSettled(
      backends.map((candidate) => JournalBackend.settle(database.pool, 'auction', candidate)),
    );
    const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(refused).toEqual([expect.any(WrongBackend), expect.any(WrongBackend)]);
  });
});

it('none, if only one process opens a shard in PostgreSQL or settles Kafka', async () => {
  await (await openInPostgres()).close();
  await expect(JournalBackend.settle(database.pool, 'auction', BACKEND)).rejects.toBeInstanceOf(WrongBackend);
  await database.pool.query('truncate journal.shards, journal.records');
  await JournalBackend.settle(database.pool, 'auction', BACKEND);
  await JournalBackend.settle(database.pool, 'auction', BACKEND);
  await expect(openInPostgres()).rejects.toBeInstanceOf(WrongBackend);
});
