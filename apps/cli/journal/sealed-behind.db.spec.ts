import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';

jest.setTimeout(60_000);

const KEY = Buffer.alloc(32, 7);
let database: TestDatabase;

/** An epoch and two appends of two records each: 1, 3 and 5 have seals. */
beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  const journal = new PostgresJournal({
    family: 'auction',
    url: database.url,
    clock: new SystemClock(),
    opener: 'test',
    seals: new RecordMacs('auction', [KEY]),
  });
  const writer = await journal.open(0);
  await writer.append(['"a"', '"b"']);
  await writer.append(['"c"', '"d"']);
  await writer.close();
  await database.pool.query('create table public.kept as table journal.records');
});
afterEach(async () => {
  await database.pool.query('truncate journal.records');
  await database.pool.query('insert into journal.records select * from public.kept');
});
afterAll(() => database.drop());

it.each([
  [4, 'record 5 after it has the seal of an owner: remove nothing there'],
  [5, 'record 5 itself has the seal of an owner: remove nothing there'],
])('damage of record %i is not mistaken for an end without a seal', async (sequence, message) => {
  await database.pool.query(`update journal.records set payload = '"x"' where sequence = $1`, [sequence]);
  const { code, output } = await runTool('apps/cli/main.js journal', ['verify', '--chain-only'], {
    DATABASE_URL: database.url,
    ID_KEY: KEY.toString('hex'),
  });
  expect([code, output]).toEqual([1, expect.stringContaining(`corrupt at sequence ${sequence}`)]);
  expect(output).toContain(`shard 0: ${message}`);
});
