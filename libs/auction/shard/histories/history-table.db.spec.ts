import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { journalMigrations } from '#libs/journal/migrations/list.js';
import { HistoryTable } from './history-table.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(journalMigrations);
});
afterAll(() => database.drop());

it('knows each auction that it was given, and no other, and of its own shard alone', async () => {
  const [own, others] = [0, 1].map((shard) => new HistoryTable(database.pool, shard));
  const histories = Array.from({ length: 1_201 }, (_, place) => ({
    auctionId: randomUUID(),
    positions: [place + 1, place + 2_000],
  }));
  await own!.keep(histories);
  const found = await Promise.all(histories.map(({ auctionId }) => own!.find(auctionId)));
  expect(found).toEqual(histories.map(({ positions }) => positions));
  expect(await own!.find(randomUUID())).toBeUndefined();
  expect(await others!.find(histories[0]!.auctionId)).toBeUndefined();
});

it('stays with what was said first: a history has no second end', async () => {
  const table = new HistoryTable(database.pool, 2);
  const auctionId = randomUUID();
  for (const positions of [[4, 9, 11], [4, 9, 11], [7]]) {
    await table.keep([{ auctionId, positions }]);
    expect(await table.find(auctionId)).toEqual([4, 9, 11]);
  }
});

it.each([[[]], [[0]], [[-1]], [['9007199254740992']]])('has no room for %j', async (positions) => {
  const planted = database.pool.query('insert into journal.histories values ($1, 0, $2)', [
    randomUUID(),
    positions,
  ]);
  await expect(planted).rejects.toMatchObject({ code: '23514' });
});

it.each(['{NULL}', '{3,NULL}', '{{1,2},{3,4}}', '[5:6]={1,2}'])(
  'is a list and nothing else: not %s',
  async (positions) => {
    const planted = database.pool.query('insert into journal.histories values ($1, 0, $2::text::bigint[])', [
      randomUUID(),
      positions,
    ]);
    await expect(planted).rejects.toMatchObject({ code: '23514' });
  },
);
