import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { createTestDatabase } from '#libs/testing/database/test-database.js';
import { createBackup } from './create-backup.js';
import { backupToRestore, restoreBackup } from './restore-backup.js';

let folder: string;
let backup: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-foreign-'));
  backup = path.join(folder, 'backup');
  const database = await createTestDatabase(allMigrations);
  await createBackup({ pool: database.pool, tell: () => undefined }, backup);
  await database.drop();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const restoreInto = async (url: string): Promise<unknown> =>
  restoreBackup(url, await backupToRestore(backup), () => undefined);

it.each([
  ['a table', 'create table public.theirs (what text)', 'table public.theirs'],
  [
    'a table in a schema of its own',
    'create schema theirs create table things (what text)',
    'table theirs.things',
  ],
  ['a view', 'create view public.theirs as select 1 as one', 'view public.theirs'],
  ['a sequence', 'create sequence public.theirs', 'sequence public.theirs'],
  [
    'a function',
    `create function public.theirs() returns int language sql as 'select 1'`,
    'function public.theirs()',
  ],
  ['a type', `create type public.theirs as enum ('one')`, 'type public.theirs'],
  ['a schema with the name of one of ours', 'create schema custody', 'schema custody'],
])('a database with %s is refused before anything is written', async (_what, statement, named) => {
  const database = await createTestDatabase();
  await database.pool.query(statement);
  await expect(restoreInto(database.url)).rejects.toMatchObject({
    exitCode: 69,
    message: expect.stringMatching(new RegExp(`not empty.*${named.replace(/[().]/g, '\\$&')}`)),
  });
  const { rowCount } = await database.pool.query(
    `select from pg_class c join pg_namespace n on n.oid = relnamespace where nspname in ('meta', 'journal')`,
  );
  expect(rowCount).toBe(0);
  await database.drop();
});

it('a database with only an extension and its schema is accepted', async () => {
  const database = await createTestDatabase();
  await database.pool
    .query('create schema extensions; create extension if not exists pg_trgm schema extensions')
    .catch(() => undefined);
  await restoreInto(database.url);
  expect((await database.pool.query('select from meta.generation')).rowCount).toBe(1);
  await database.drop();
});
