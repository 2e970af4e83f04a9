import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { PostgresReservationDesk } from '#libs/auction/admission/risk/postgres-desk.js';
import { JournalLock } from '#libs/journal/backend/journal-lock.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { refuseUnfitDatabaseAt } from '#libs/platform/database/fit-database.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, roleName, urlAs } from './database-roles.js';
import { DATABASE_ROLES, type DatabaseRole } from './grants.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

jest.setTimeout(30_000);

const PASSWORD = 'some-password';
const PASSWORDS = Object.fromEntries(DATABASE_ROLES.map((role) => [role, PASSWORD])) as Record<
  DatabaseRole,
  string
>;
/**
 * These match the statements better than PostgreSQL's own functions of that name, because the types of parameters are not known
 * yet.
 */
const PLANTED = [
  'pg_advisory_lock(text)',
  'pg_advisory_lock_shared(text)',
  'pg_try_advisory_lock(text)',
  'pg_try_advisory_lock_shared(text)',
  'pg_advisory_xact_lock(text)',
  'hashtextextended(text, int)',
  'now()',
  'to_regclass(text)',
  'current_setting(text)',
];
const clock = new SystemClock();
let database: TestDatabase;
let name: string;

const as = (role: DatabaseRole): string => urlAs(database.url, role, PASSWORD);

/**
 * An operator has let a login create schemas. It creates one with the name of each role, with functions that record their
 * callers.
 */
beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  name = new URL(database.url).pathname.slice(1);
  await prepareDatabaseRoles(database.url, PASSWORDS);
  await database.pool.query(`grant create on database ${name} to ${roleName(name, 'operations')}`);
  await database.pool.query('create table public.heard (what text)');
  await database.pool.query('grant insert on public.heard to public');
  const operations = new pg.Client({ connectionString: as('operations') });
  await operations.connect();
  const owner = new URL(database.url).username;
  for (const victim of [owner, ...DATABASE_ROLES.map((role) => roleName(name, role))]) {
    await operations.query(`create schema ${victim}`);
    await operations.query(`grant all on schema ${victim} to public`);
    for (const call of PLANTED) {
      await operations.query(`create function ${victim}.${call} returns text language plpgsql as $$
        begin insert into public.heard values (current_user || ' called ${call}'); return null; end $$`);
      await operations.query(`grant execute on function ${victim}.${call} to public`);
    }
  }
  await operations.end();
});

afterAll(async () => {
  await dropWithRoles(database);
});

async function recordedCalls(): Promise<string[]> {
  const { rows } = await database.pool.query<{ what: string }>('select what from public.heard');
  return rows.map(({ what }) => what);
}

it('no process of the product calls a planted function that has the name of one it uses', async () => {
  const pool = openPool(as('gateway'), { applicationName: 'test', max: 1 });
  await pool.query(`select hashtextextended($1, 7)::text, now(), to_regclass($2)`, ['a', 'b']);
  await pool.query('select pg_advisory_xact_lock($1)', [7]);
  await pool.end();
  const lock = new JournalLock(as('owner'), clock);
  await lock.share();
  await lock.letGo();
  const writer = await new PostgresJournal({
    family: 'auction',
    url: as('owner'),
    clock,
    opener: 'test',
  }).open(0);
  await writer.append(['"a"']);
  await writer.close();
  const desk = await PostgresReservationDesk.open({
    url: as('owner'),
    shard: 0,
    epoch: 1,
    clock,
    random: () => 0,
  });
  await desk.close();
  await refuseUnfitDatabaseAt(as('projector'));
  await migrate(database.url, allMigrations, { info: () => undefined });
  expect(await recordedCalls()).toEqual([]);
});

it('no login can create a schema or a table', async () => {
  await prepareDatabaseRoles(database.url, PASSWORDS);
  for (const role of DATABASE_ROLES) {
    const client = new pg.Client({ connectionString: as(role) });
    await client.connect();
    await expect(client.query('create schema planted')).rejects.toMatchObject({ code: '42501' });
    await expect(client.query('create table public.planted ()')).rejects.toMatchObject({ code: '42501' });
    await client.end();
  }
});

it('every connection of the product sets the options that protect against planted names', () => {
  const sources = ['apps', 'libs'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  );
  const made = sources
    .filter((file) => file.endsWith('.ts') && !/\.(spec|fixture)\.ts$|^libs\/testing\//.test(file))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      return [...text.matchAll(/new (?:pg\.(?:Client|Pool)|DataSource)\(\{.*?\}\)/gs)].map(
        ([call]) => [file, call.includes('options')] as const,
      );
    });
  expect(made.length).toBeGreaterThan(8);
  expect(made.filter(([, keeps]) => !keeps)).toEqual([]);
});
