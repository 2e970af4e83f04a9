import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadPolicy } from '#libs/auction/admission/policy/load-policy.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { seedDemo } from './seed.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
});
afterAll(() => database.drop());

/**
 * Display names of the load makers that may be invited at venue_a, after a start with this many load makers.
 */
async function eligibleAfter(makers: number | undefined): Promise<string[]> {
  const loadAccounts = makers === undefined ? undefined : { makers, originators: 1 };
  await seedDemo({ databaseUrl: database.url, loadAccounts });
  const { principals } = await loadPolicy(database.pool);
  return [...principals.values()]
    .filter(({ display_name: name, venues }) => name.startsWith('Load Maker') && venues.has('venue_a'))
    .map(({ display_name: name }) => name)
    .sort();
}

it('lets load makers trade only in starts that ask for them', async () => {
  expect(await eligibleAfter(3)).toEqual(['Load Maker 1', 'Load Maker 2', 'Load Maker 3']);
  expect(await eligibleAfter(undefined)).toEqual([]);
  expect(await eligibleAfter(2)).toEqual(['Load Maker 1', 'Load Maker 2']);
});

it('keeps the changes that an operator made to all other accounts', async () => {
  await database.pool.query(
    `update control.accounts_policy set venues = array['venue_b'], suspended = true
     where account_id in (select account_id from control.principals where display_name = 'Market Maker 1')`,
  );
  await seedDemo({ databaseUrl: database.url, loadAccounts: undefined });
  const { principals } = await loadPolicy(database.pool);
  const maker = [...principals.values()].find(({ display_name: name }) => name === 'Market Maker 1');
  expect(maker).toMatchObject({ suspended: true, venues: new Set(['venue_b']) });
});
