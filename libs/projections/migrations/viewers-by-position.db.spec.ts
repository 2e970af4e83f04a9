import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { randomSession } from '#libs/testing/auctions/journaled-auctions.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { Projection } from '../projection.js';
import { Projector, transactionsOf } from '../projector.js';
import { LIVE } from '../schemas.js';
import { ViewersByPosition1790000403000, type Runner } from './1790000403000-viewers-by-position.js';
import { projectionMigrations } from './list.js';

jest.setTimeout(60_000);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(projectionMigrations);
  const meter = { applied: () => undefined };
  const projection = new Projection(LIVE);
  const projector = new Projector(transactionsOf(database.pool), projection, new SystemClock(), meter);
  for (const shard of [0, 1]) await projector.take(shard, randomSession(5 + shard, 700, shard).records);
});
afterAll(() => database.drop());

async function rows(): Promise<unknown[]> {
  const text = 'select viewer::text from completed.viewers viewer order by viewer_id, opened_at, auction_id';
  return (await database.pool.query<{ viewer: string }>(text)).rows;
}

it('rows of before get what the projector would have written', async () => {
  const written = await rows();
  expect(written.length).toBeGreaterThan(2_000);
  const migration = new ViewersByPosition1790000403000();
  const { pool } = database;
  const runner: Runner = { query: async (text, values) => (await pool.query<object>(text, values)).rows };
  await migration.down(runner);
  expect(await rows()).not.toEqual(written);
  await migration.up(runner);
  expect(await rows()).toEqual(written);
});
