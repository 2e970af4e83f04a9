import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { IS_FOR_FEW } from '#libs/platform/database/lock-functions.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { dropWithRoles, nameOf, RoleLogins, takeRolesOut } from '#libs/testing/database/role-logins.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { allMigrations } from '../all-migrations.js';
import { prepareDatabaseRoles, roleName, urlAs } from './database-roles.js';
import { DATABASE_ROLES, LOCKS, type DatabaseRole } from './grants.js';
import { USUAL_SESSIONS } from './login-sessions.js';

jest.setTimeout(60_000);

const DENIED = '42501';
/** Whose names have bounds. */
const OF_FEW_NAMES = ['projector', 'executor', 'operations'] as const;
/** The way to those that it may have, and how many these are. */
const NAMED = {
  projector: { call: 'meta.take_lease(g - 5000)', names: 3 },
  executor: { call: 'custody.take_evidence_turn()', names: 1 },
  operations: { call: 'identity.await_entry_turn()', names: 1 },
} as const;
const PASSWORD = 'a-password';
const LEASES = 1_749_203_316;

/** Each way to as many locks as the server has room for. */
const HOARDS = [
  'pg_advisory_lock(g)',
  'pg_advisory_lock_shared(g, 1)',
  'pg_try_advisory_lock(g)',
  'pg_try_advisory_lock(1749203316, g)',
  'pg_try_advisory_lock_shared(g)',
  'pg_advisory_xact_lock(g)',
  'pg_advisory_xact_lock_shared(1, g)',
  'pg_try_advisory_xact_lock(g)',
  'pg_try_advisory_xact_lock_shared(g)',
];

describe('a login', () => {
  let logins: RoleLogins;
  const open: pg.Client[] = [];

  beforeAll(async () => {
    logins = await RoleLogins.open();
  });
  afterEach(() => Promise.all(open.splice(0).map((client) => client.end())));
  afterAll(() => logins.close());

  async function session(role: DatabaseRole): Promise<pg.Client> {
    const client = await logins.connect(role, logins.passwords[role]);
    open.push(client);
    return client;
  }

  it.each(DATABASE_ROLES)(
    'of %s calls no function that takes locks but what grants.ts says',
    async (role) => {
      const { rows } = await logins.database.pool.query<{ call: string }>(
        `select p.oid::regprocedure::text as call from pg_proc p
       where ${IS_FOR_FEW} and has_function_privilege($1, p.oid, 'execute')`,
        [roleName(logins.name, role)],
      );
      const given = Object.entries(LOCKS).filter(([, roles]) => roles.includes(role));
      expect(rows.map(({ call }) => call).sort()).toEqual(given.map(([call]) => call).sort());
    },
  );

  it.each(OF_FEW_NAMES)(
    'of %s takes no locks but those it needs, however it asks, and others go on',
    async (role) => {
      const hoarder = await session(role);
      for (const hoard of HOARDS) {
        const text = `select count(${hoard}) from generate_series(1, 2000000) g`;
        await expect(hoarder.query(text)).rejects.toMatchObject({ code: DENIED });
      }
      await hoarder.query('begin');
      const { call, names } = NAMED[role];
      await hoarder.query(`select count(${call}) from generate_series(1, 10000) g`);
      const { rows } = await logins.database.pool.query<{ held: number }>(
        `select count(*)::int as held from pg_locks l join pg_stat_activity a using (pid)
       where a.usename = $1 and l.locktype = 'advisory'`,
        [roleName(logins.name, role)],
      );
      expect(rows[0]!.held).toBe(names);
      const owner = await session('owner');
      await owner.query('select count(pg_advisory_lock(g)) from generate_series(1, 10000) g');
    },
  );

  it('keeps a lease to the end of its session, and turns to the end of its transaction', async () => {
    const [one, other] = [await session('projector'), await session('projector')];
    const lease = (client: pg.Client): Promise<unknown> => answer(client, 'select meta.take_lease(2)');
    expect([await lease(one), await lease(other)]).toEqual([true, false]);
    await one.query('begin; rollback');
    expect(await lease(other)).toBe(false);
    // What a projector of a release before asks for.
    expect(await answer(logins.database.pool, `select pg_try_advisory_lock(${LEASES}, 2)`)).toBe(false);
    const [first, second] = [await session('executor'), await session('executor')];
    const turn = (client: pg.Client): Promise<unknown> =>
      answer(client, 'select custody.take_evidence_turn()');
    await first.query('begin');
    expect([await turn(first), await turn(second)]).toEqual([true, false]);
    await first.query('commit');
    expect(await turn(second)).toBe(true);
  });

  it('cannot use up the locks with all relations that there are, in all sessions of all logins', async () => {
    const { rows } = await logins.database.pool.query<{ relations: number; slots: number; sessions: number }>(
      `select (select count(*)::int from pg_class) as relations, current_setting('max_connections')::int as sessions,
         current_setting('max_locks_per_transaction')::int * current_setting('max_connections')::int as slots`,
    );
    const { relations, sessions, slots } = rows[0]!;
    for (const role of DATABASE_ROLES) expect(relations * USUAL_SESSIONS[role]).toBeLessThan(slots);
    expect(relations * sessions).toBeLessThan(slots);
  });

  it('to whom an administrator has given more has it until the next migration', async () => {
    await logins.database.pool.query(
      `grant execute on function pg_advisory_lock(bigint) to public, ${roleName(logins.name, 'executor')}`,
    );
    const hoarder = await session('executor');
    await hoarder.query('select pg_advisory_lock(1)');
    await prepareDatabaseRoles(logins.database.url, logins.passwords);
    expect(await hoarder.query('select pg_advisory_lock(1)').catch(codeOf)).toBe(DENIED);
  });
});

describe('behind a release before', () => {
  let database: TestDatabase;
  let name: string;
  const passwords = Object.fromEntries(DATABASE_ROLES.map((role) => [role, PASSWORD]));
  const warnings: string[] = [];
  const warn = (line: string): number => warnings.push(line);

  beforeEach(async () => {
    database = await createTestDatabase(
      allMigrations.filter((migration) => migration.name !== 'LocksOfBefore1790000507000'),
    );
    name = nameOf(database);
    for (const role of DATABASE_ROLES)
      await database.pool.query(
        `create role ${roleName(name, role)}; grant connect on database ${name} to ${roleName(name, role)}`,
      );
    warnings.length = 0;
  });
  afterEach(() => dropWithRoles(database));

  const asks = (role: DatabaseRole, text: string): Promise<unknown> =>
    asked(urlAs(database.url, role, PASSWORD), text);

  const OF_BEFORE = [
    ['owner', `select pg_advisory_xact_lock_shared(1193046474) is not null`],
    ['gateway', `select pg_advisory_xact_lock(hashtextextended('halts', 24)) is not null`],
    ['projector', `select pg_try_advisory_lock(${LEASES}, 1)`],
    ['executor', 'select pg_try_advisory_xact_lock(7210554317)'],
    ['operations', 'select pg_advisory_xact_lock(7210554319) is not null'],
  ] as const;

  it('its processes go on, until they have been replaced or a launcher replaces them', async () => {
    await migrate(database.url, allMigrations, { info: () => undefined });
    // The second time is that of a job that is tried again.
    for (let times = 0; times < 2; times += 1) {
      await prepareDatabaseRoles(database.url, passwords, { warn });
      for (const [role, text] of OF_BEFORE) expect([role, await asks(role, text)]).toEqual([role, true]);
      expect(await asks('projector', 'select pg_advisory_lock(1)')).toBe(DENIED);
    }
    const [told = ''] = warnings;
    expect([...new Set(warnings)]).toEqual([
      expect.stringContaining(
        `revoke execute on function pg_try_advisory_lock(integer,integer) from "${name}_projector"`,
      ),
    ]);
    // As it is told.
    await database.pool.query(told.slice(told.indexOf('revoke')));
    await prepareDatabaseRoles(database.url, passwords, { warn });
    expect(warnings.length).toBe(2);
    expect(await asks('projector', OF_BEFORE[2][1])).toBe(DENIED);
  });

  it('nothing is left to its logins where all are replaced at once', async () => {
    await migrate(database.url, allMigrations, { info: () => undefined });
    await prepareDatabaseRoles(database.url, passwords, { warn, replacesAll: true });
    expect(warnings).toEqual([]);
    for (const role of OF_FEW_NAMES)
      expect(await asks(role, OF_BEFORE.find(([each]) => each === role)![1])).toBe(DENIED);
  });

  it('nothing is left to them in a database that none of them has worked on, as a restored one', async () => {
    await takeRolesOut(database);
    await migrate(database.url, allMigrations, { info: () => undefined });
    await prepareDatabaseRoles(database.url, passwords, { warn });
    expect(warnings).toEqual([]);
  });
});

describe('on a server of which nobody has taken anything from everybody', () => {
  it('a migration by who does not administer it tells of it, forbids nothing, and processes work', async () => {
    const database = await createTestDatabase();
    const bare = new URL(database.url);
    bare.pathname = `${bare.pathname}_bare`;
    // Of which nobody has taken anything away.
    await database.pool.query(`create database ${bare.pathname.slice(1)} template template0`);
    await migrate(bare.href, allMigrations, { info: () => undefined });
    const warnings: string[] = [];
    const warn = (line: string): number => warnings.push(line);
    expect(await prepareDatabaseRoles(bare.href, { projector: PASSWORD }, { warn })).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('any login can use up the locks of the server')]);
    expect(await asked(urlAs(bare.href, 'projector', PASSWORD), 'select meta.take_lease(0)')).toBe(true);
    await asked(
      bare.href,
      `do $$ begin for n in 1..500 loop execute format('create table public.t%s (x int primary key)', n); end loop; end $$`,
    );
    await prepareDatabaseRoles(bare.href, {}, { warn });
    expect(warnings[2]).toMatch(/max_locks_per_transaction=1024, and there are 1\d{3} relations/);
    await database.pool.query(`drop database ${bare.pathname.slice(1)} with (force)`);
    await database.drop();
  });
});

/** What it is told, or the code of its refusal. */
async function asked(url: string, text: string): Promise<unknown> {
  const client = new pg.Client(url);
  await client.connect();
  const told = await answer(client, text).catch(codeOf);
  await client.end();
  return told;
}

function codeOf(error: unknown): string {
  return (error as pg.DatabaseError).code ?? String(error);
}

async function answer(client: Pick<pg.ClientBase, 'query'>, text: string): Promise<unknown> {
  const { rows } = await client.query<Record<string, unknown>>(text);
  return Object.values(rows[0] ?? {})[0];
}
