import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { codeIn, tablesOf, textOf } from './markdown.js';

const TABLES = `
  select table_schema || '.' || table_name as name from information_schema.tables
  where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
});

afterAll(() => database.drop());

const catalogue = tablesOf(textOf('docs/reference/schema.md'));

it('catalogues every table of the database, and no other', async () => {
  const { rows } = await database.pool.query<{ name: string }>(TABLES);
  const told = catalogue.flatMap(({ rows: lines }) => lines.flatMap(({ Table: cell = '' }) => codeIn(cell)));
  expect(told.sort()).toEqual(rows.map(({ name }) => name).sort());
});

it('has each table under the heading of its schema, and says which processes write and read it', () => {
  for (const { heading, rows } of catalogue) {
    for (const row of rows) {
      expect(row.Table).toMatch(new RegExp(`^\`${heading}\\.`));
      expect([row['What for'], row['Written by'], row['Read by']]).not.toContain('');
    }
  }
});
