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

it('finds each stored auction of its own shard, and no other', async () => {
  const [own, others] = [0, 1].map((shard) => new HistoryTable(database.pool, shard));
  const histories = Array.from({ length: 1_201 }, (_, index) => ({
    auctionId: randomUUID(),
    positions: [index + 1, index + 2_000],
  }));
  await own!.keep(histories);
  const found = await Promise.all(histories.map(({ auctionId }) => own!.find(auctionId)));
  expect(found).toEqual(histories.map(({ positions }) => positions));
  expect(await own!.find(randomUUID())).toBeUndefined();
  expect(await others!.find(histories[0]!.auctionId)).toBeUndefined();
});

it('keeps the first history of an auction; later ones change nothing', async () => {
  const table = new HistoryTable(database.pool, 2);
  const auctionId = randomUUID();
  for (const positions of [[4, 9, 11], [4, 9, 11], [7]]) {
    await table.keep([{ auctionId, positions }]);
    expect(await table.find(auctionId)).toEqual([4, 9, 11]);
  }
});

it.each([[[]], [[0]], [[-1]], [['9007199254740992']]])('refuses the positions %j', async (positions) => {
  const planted = database.pool.query('insert into journal.histories values ($1, 0, $2)', [
    randomUUID(),
    positions,
  ]);
  await expect(planted).rejects.toMatchObject({ code: '23514' });
});

it.each(['{NULL}', '{3,NULL}', '{{1,2},{3,4}}', '[5:6]={1,2}'])(
  'refuses %s, which is not a plain list',
  async (positions) => {
    const planted = database.pool.query('insert into journal.histories values ($1, 0, $2::text::bigint[])', [
      randomUUID(),
      positions,
    ]);
    await expect(planted).rejects.toMatchObject({ code: '23514' });
  },
);
