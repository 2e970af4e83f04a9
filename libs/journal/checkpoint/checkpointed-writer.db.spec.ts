import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { eventually } from '#libs/testing/eventually.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { JournalFenced, JournalUnavailable } from '../journal-errors.js';
import { journalMigrations } from '../migrations/list.js';
import { CheckpointTable } from './checkpoint-table.js';
import { CheckpointedWriter } from './checkpointed-writer.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
});
beforeEach(() => database.pool.query('truncate journal.witness'));
afterAll(() => database.drop());

/** Opens a writer after the database has noted the take-over, as it does before any caller is served. */
async function openOn(
  store: MemoryJournalStore,
  onFault: (error: unknown) => void = () => undefined,
): Promise<CheckpointedWriter> {
  const checkpoints = new CheckpointTable(database.pool, 'auction');
  const writer = await new MemoryJournal(store, 'test').open(0);
  const located = () => ({ ...writer.head, offset: writer.head.sequence - 1 });
  await checkpoints.advance(0, located());
  return new CheckpointedWriter({
    writer,
    located,
    checkpoints,
    clock: new SystemClock(),
    onFault,
  });
}

it('does not accept the reply of a stale broker as proof if the database knows of a take-over', async () => {
  // The first writer sees nothing of the second, as if only it could still reach an old leader.
  const oldTopic = new MemoryJournalStore();
  const first = await openOn(oldTopic);
  await first.confirm();
  await first.append(['"a"']);
  const topic = new MemoryJournalStore();
  Object.assign(topic.shard(0), { epoch: 1, records: [...oldTopic.shard(0).records] });
  const second = await openOn(topic);
  await second.confirm();
  await expect(first.confirm()).rejects.toThrow(JournalFenced);
  expect(first.health()).toMatchObject({ ok: false, reason: expect.stringContaining('in epoch 2') });
  await expect(first.append(['"b"'])).rejects.toThrow(JournalFenced);
  expect(oldTopic.shard(0).records).toHaveLength(2);
  await Promise.all([first.close(), second.close()]);
});

it('does not accept the reply of a broker as proof while the database is away, and does not end the writer', async () => {
  const writer = await openOn(new MemoryJournalStore());
  await database.pool.query('alter table journal.witness rename to away');
  await expect(writer.confirm()).rejects.toThrow(JournalUnavailable);
  expect(writer.health()).toEqual({ ok: true });
  await database.pool.query('alter table journal.away rename to witness');
  await writer.confirm();
  await writer.append(['"a"']);
  await writer.close();
});

it('repeats a checkpoint that failed, even if nothing more is written', async () => {
  const faults: unknown[] = [];
  const writer = await openOn(new MemoryJournalStore(), (error) => faults.push(error));
  await database.pool.query('alter table journal.witness rename to away');
  await writer.append(['"a"']);
  await eventually(() => expect(faults).toHaveLength(1));
  await database.pool.query('alter table journal.away rename to witness');
  await writer.close();
  expect(await new CheckpointTable(database.pool, 'auction').located(0)).toMatchObject({
    epoch: 1,
    sequence: 2,
  });
});

it('reports once that another process wrote what the database has seen', async () => {
  const faults: unknown[] = [];
  const writer = await openOn(new MemoryJournalStore(), (error) => faults.push(error));
  await database.pool.query('update journal.witness set sequence = sequence + 100 where shard = 0');
  await writer.append(['"a"']);
  await writer.close();
  expect(faults.map(String)).toEqual([
    expect.stringContaining('has seen record 101 of epoch 1, but its owner is at 2'),
  ]);
});
