import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrate } from '#libs/platform/database/migrate.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from './all-migrations.js';
import { SCHEMAS } from './roles/grants.js';
import { tablesMadeBy } from './tables-of-migrations.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('a database has exactly the tables that its migrations are listed with, after each migration', async () => {
  const timeOf = (name: string): number => Number(name.slice(-'1790000000000'.length));
  const inOrder = [...allMigrations].sort((one, other) => timeOf(one.name) - timeOf(other.name));
  for (let many = 1; many <= inOrder.length; many += 1) {
    const run = inOrder.slice(0, many);
    await migrate(database.url, run, { info: () => undefined });
    const { rows } = await database.pool.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables where schemaname = any ($1) and schemaname <> 'meta' order by 1`,
      [SCHEMAS],
    );
    const names = run.map(({ name }) => name);
    expect([run.at(-1)?.name, rows.map(({ name }) => name)]).toEqual([names.at(-1), tablesMadeBy(names)]);
  }
}, 60_000);
