import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, roleName } from './database-roles.js';
import { dropWithRoles, nameOf } from '#libs/testing/database/role-logins.js';

jest.setTimeout(30_000);

let database: TestDatabase;
let gateway: string;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  gateway = roleName(nameOf(database), 'gateway');
  await prepareDatabaseRoles(database.url, {});
});

afterAll(() => dropWithRoles(database));

/** Every right on every object in the product's schemas. */
async function presentRights(): Promise<unknown> {
  const { rows } = await database.pool.query(
    `select 'relation' as of, c.oid::regclass::text as what, array(select a::text from unnest(relacl) a order by 1) as rights
     from pg_class c join pg_namespace n on n.oid = relnamespace where nspname !~ '^(pg_|information_schema)' and relkind in ('r', 'S')
     union all select 'column', attrelid::regclass || '.' || attname, array(select a::text from unnest(attacl) a order by 1)
     from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
     where nspname !~ '^(pg_|information_schema)' and attacl is not null
     union all select 'function', p.oid::regprocedure::text, array(select a::text from unnest(proacl) a order by 1)
     from pg_proc p join pg_namespace n on n.oid = pronamespace where nspname !~ '^(pg_|information_schema)'
     union all select 'schema', nspname, array(select a::text from unnest(nspacl) a order by 1)
     from pg_namespace where nspname !~ '^(pg_|information_schema|public)'
     order by 1, 2`,
  );
  return rows;
}

it.each([
  ['PUBLIC reads a table', () => 'grant select on custody.balances to public'],
  ['PUBLIC writes a column', () => 'grant update (email) on identity.users to public'],
  ['PUBLIC uses a schema', () => 'grant usage, create on schema custody to public'],
  ['PUBLIC calls a function', () => 'grant execute on all functions in schema custody to public'],
  ['a role uses sequences', () => `grant all on all sequences in schema control, journal to ${gateway}`],
  [
    'a role has passed on a right that it may grant to others',
    () => `grant select on identity.users to ${gateway} with grant option;
           grant ${gateway} to current_user with inherit false, set true; set role ${gateway}; grant select on identity.users to pg_monitor;
           reset role; revoke ${gateway} from current_user`,
  ],
])('the next migration revokes it: %s', async (_name, grantByHand) => {
  const before = await presentRights();
  await database.pool.query(grantByHand());
  expect(await presentRights()).not.toEqual(before);
  await prepareDatabaseRoles(database.url, {});
  expect(await presentRights()).toEqual(before);
});
