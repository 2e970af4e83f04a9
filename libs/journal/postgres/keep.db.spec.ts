import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { pause } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { events, freshShard } from '#libs/testing/contracts/journal-subject.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { JournalWriter } from '../journal.js';
import { journalMigrations } from '../migrations/list.js';
import { PostgresJournal } from './postgres-journal.js';
import { PostgresJournalReader } from './postgres-reader.js';

/** Several times the interval of an opener's checks. */
const A_WHILE_MS = 250;

const clock = new SystemClock();
const writers: JournalWriter[] = [];
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
});
afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.close())));
afterAll(() => database.drop());

function journalOf(opener: string): PostgresJournal {
  return new PostgresJournal({ family: 'auction', url: database.url, clock, opener });
}

/** A writer that is being opened, and whether it is open yet. */
function opening(shard: number, opener: string) {
  const opened = journalOf(opener).open(shard);
  const state = { isOpen: false, opened };
  void opened.then((writer) => {
    writers.push(writer);
    state.isOpen = true;
  });
  return state;
}

it('a locked shard stays with its present writer until that writer is done, and then goes to the process that locked it', async () => {
  const shard = freshShard();
  const today = opening(shard, 'owner');
  const owner = await today.opened;
  const kept = await journalOf('keeper').keep(shard);
  await owner.append(['"still mine"']);
  await owner.close();
  const next = opening(shard, 'next owner');
  const keeper = await kept.open();
  await keeper.append(['"the keeper\'s"']);
  await pause(clock, A_WHILE_MS);
  expect(next.isOpen).toBe(false);
  await keeper.close();
  await (await next.opened).append(['"the next"']);
  const reader = new PostgresJournalReader(database.pool, 'auction');
  expect(await events(reader, shard)).toEqual(['"still mine"', '"the keeper\'s"', '"the next"']);
});

it('a locked shard that is released is opened by the next waiting opener, and other shards never wait', async () => {
  const shard = freshShard();
  const kept = await journalOf('keeper').keep(shard);
  const waiting = opening(shard, 'owner');
  await opening(freshShard(), 'another').opened;
  await pause(clock, A_WHILE_MS);
  expect(waiting.isOpen).toBe(false);
  await kept.letGo();
  expect((await waiting.opened).head.epoch).toBe(1);
});
