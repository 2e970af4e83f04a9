import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, roleName } from './database-roles.js';
import { dropWithRoles } from '#libs/testing/database/role-logins.js';

jest.setTimeout(30_000);

let database: TestDatabase;
let name: string;
let gateway: string;
/** Somebody who is none of the product's. */
let other: string;
let group: string;

beforeAll(async () => {
  database = await createTestDatabase(allMigrations);
  name = new URL(database.url).pathname.slice(1);
  gateway = roleName(name, 'gateway');
  await prepareDatabaseRoles(database.url, {});
  other = `dba_of_${name}`;
  group = `group_of_${name}`;
  await database.pool.query(
    `create role ${other}; create role ${group}; grant usage on schema custody to ${other}; grant ${other} to current_user with inherit true, set true`,
  );
});

afterAll(async () => {
  await database.pool.query(`drop owned by ${other}; drop role ${group}; drop role ${other}`);
  await dropWithRoles(database);
});

/** Every right on whatever is in the product's schemas, and what the roles are. */
async function standing(): Promise<unknown> {
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
     union all select 'role', rolname, array[rolcreatedb::text, rolcreaterole::text, rolconnlimit::text, coalesce(rolvaliduntil, 'infinity')::text]
     from pg_roles where rolname like $1 || '%'
     union all select 'default', format('%s %s %s', defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype),
       array(select a::text from unnest(defaclacl) a order by 1) from pg_default_acl
     union all select 'member', format('%s of %s', member::regrole, roleid::regrole), array[grantor::regrole::text]
     from pg_auth_members where member::regrole::text like $1 || '%'
     order by 1, 2`,
    [name],
  );
  return rows;
}

it.each([
  ['PUBLIC reads a table', () => 'grant select on custody.balances to public'],
  ['PUBLIC writes a column', () => 'grant update (email) on identity.users to public'],
  ['PUBLIC uses a schema', () => 'grant usage, create on schema custody to public'],
  ['PUBLIC calls a function', () => 'grant execute on all functions in schema custody to public'],
  ['a role uses sequences', () => `grant all on all sequences in schema control, journal to ${gateway}`],
  ['a role makes databases', () => `alter role ${gateway} createdb`],
  ['a role makes roles', () => `alter role ${gateway} createrole`],
  ['a role is over soon', () => `alter role ${gateway} valid until '2030-01-01'`],
  ['a role has one connection', () => `alter role ${gateway} connection limit 1`],
  [
    'a role has passed on what it was given to pass on',
    () => `grant select on identity.users to ${gateway} with grant option;
           grant ${gateway} to current_user with inherit false, set true; set role ${gateway}; grant select on identity.users to pg_monitor;
           reset role; revoke ${gateway} from current_user`,
  ],
  ['a role reads what will be made', () => `alter default privileges grant select on tables to ${gateway}`],
  [
    'a role reads what will be made in a schema',
    () => `alter default privileges in schema execution grant select, update on tables to ${gateway}`,
  ],
  ['PUBLIC reads what will be made', () => 'alter default privileges grant select on tables to public'],
  [
    'PUBLIC calls what will be made in a schema',
    () => 'alter default privileges in schema custody grant execute on functions to public',
  ],
  [
    'a role is given what another will make',
    () => `alter default privileges for role ${other} grant all on sequences to ${gateway}`,
  ],
  ['a role is a member of another', () => `grant ${group} to ${gateway}`],
  [
    'a role is a member of another, by somebody else, and has passed that on',
    () => `grant ${group} to ${other} with admin option; set role ${other}; grant ${group} to ${gateway} with admin option; reset role;
           grant ${gateway} to current_user with inherit false, set true; set role ${gateway};
           grant ${group} to ${roleName(name, 'owner')}; reset role; revoke ${gateway} from current_user`,
  ],
])('the next migration takes back: %s', async (_name, given) => {
  const before = await standing();
  await database.pool.query(given());
  expect(await standing()).not.toEqual(before);
  await prepareDatabaseRoles(database.url, {});
  expect(await standing()).toEqual(before);
});

it('names what somebody else has granted who was given it to pass on, and ends with 69', async () => {
  await database.pool.query(`grant select on custody.balances to ${other} with grant option;
    set role ${other}; grant select on custody.balances to ${gateway}; reset role`);
  await expect(prepareDatabaseRoles(database.url, {})).rejects.toMatchObject({
    exitCode: 69,
    message: expect.stringContaining(`SELECT on custody.balances to ${gateway} by ${other}`),
  });
  await database.pool.query(`revoke all on custody.balances from ${other} cascade`);
  expect(await prepareDatabaseRoles(database.url, {})).toBe(true);
});

it('says what is to be said by another where the migration may not, and ends with 69', async () => {
  await database.pool.query(`alter default privileges for role ${other} grant select on tables to ${gateway};
    revoke ${other} from current_user`);
  await expect(prepareDatabaseRoles(database.url, {})).rejects.toMatchObject({
    exitCode: 69,
    message: expect.stringContaining(
      `alter default privileges for role "${other}" revoke all on tables from "${gateway}" cascade`,
    ),
  });
  await database.pool.query(`grant ${other} to current_user with inherit true, set true`);
  expect(await prepareDatabaseRoles(database.url, {})).toBe(true);
});
