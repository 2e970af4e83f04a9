import { afterEach, expect, it } from '@jest/globals';
import { migrate } from '#libs/platform/database/migrate.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { HistoriesOfBefore1790000506000 } from './1790000506000-histories-of-before.js';

const OVER = '10000000-0000-8000-8000-000000000001';
const RUNNING = '10000000-0000-8000-8000-000000000002';
const INVENTED = '10000000-0000-8000-8000-000000000003';

let database: TestDatabase;

afterEach(() => database.drop());

async function project(auctionId: string, shard: number, sequences: readonly number[]): Promise<void> {
  await database.pool.query(
    `insert into execution.events (auction_id, sequence, occurred_at, shard, version, type, hash, payload)
     select $1, sequence, 1, $2, 1, 'QUOTE_SUBMITTED', sha256('x'), '{}' from unnest($3::bigint[]) sequence`,
    [auctionId, shard, sequences],
  );
}

async function open(auctionId: string, completedAt: number | null): Promise<void> {
  await database.pool.query(
    `insert into completed.auctions (auction_id, opened_at, completed_at, sequence, events, shard, status, state)
     values ($1, 1, $2, 9, 3, 1, 'SETTLED', '{}')`,
    [auctionId, completedAt],
  );
}

it('takes what the projections have of what is over, and is not kept up by what no journal can have', async () => {
  database = await createTestDatabase(
    allMigrations.filter((migration) => migration !== HistoriesOfBefore1790000506000),
  );
  await open(OVER, 5);
  await open(RUNNING, null);
  await open(INVENTED, 5);
  await project(OVER, 1, [9, 4, 7, -5, 0]);
  await project(OVER, -1, [8]);
  await project(RUNNING, 1, [5]);
  await project(INVENTED, 1, [-1]);
  await migrate(database.url, allMigrations, { info: () => undefined });
  const { rows } = await database.pool.query(
    'select auction_id, shard, positions::text from journal.histories',
  );
  expect(rows).toEqual([{ auction_id: OVER, shard: 1, positions: '{4,7,9}' }]);
});
