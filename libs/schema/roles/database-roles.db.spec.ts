import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JournalReader } from '#libs/journal/journal.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { Rebuild } from '#libs/projecting/rebuild/rebuild.js';
import type { TestDatabase } from '#libs/testing/database/test-database.js';
import { prepareDatabaseRoles, roleName, type RolePasswords } from './database-roles.js';
import { CALLS, DATABASE_ROLES, GRANTS, MAY_MAKE_TEMPORARY, type DatabaseRole } from './grants.js';
import { REFUSED, RoleLogins } from '#libs/testing/database/role-logins.js';

const PRIVILEGES = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain'];
const DENIED = '42501';

let logins: RoleLogins;
let database: TestDatabase;
let name: string;
const attempt = (role: DatabaseRole, statement: string): Promise<string> => logins.attempt(role, statement);

beforeAll(async () => {
  logins = await RoleLogins.open();
  ({ database, name } = logins);
});

afterAll(() => logins.close());

/** Returns `table role: privileges` for each table on which a role has any privilege. */
async function presentGrants(): Promise<string[]> {
  const { rows } = await database.pool.query<{ line: string }>(
    `select place.oid::regclass || ' ' || replace(role.name, $1 || '_', '') || ': ' || string_agg(wish.name, ', ' order by wish.at)
       as line
     from pg_class place join pg_namespace n on n.oid = place.relnamespace, unnest($2::text[]) as role (name),
       unnest($3::text[]) with ordinality as wish (name, at)
     where place.relkind in ('r', 'p', 'v', 'S') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
       and case when place.relkind = 'S' then has_sequence_privilege(role.name, place.oid, 'usage, select, update')
           else has_table_privilege(role.name, place.oid, wish.name)
             or (wish.name in ('select', 'insert', 'update', 'references') and has_any_column_privilege(role.name, place.oid, wish.name))
           end
     group by place.oid, role.name order by 1`,
    [name, DATABASE_ROLES.map((role) => roleName(name, role)), await knownPrivileges()],
  );
  return rows.map(({ line }) => line);
}

/** PostgreSQL has `maintain` since version 17. */
async function knownPrivileges(): Promise<string[]> {
  const { rows } = await database.pool.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  return PRIVILEGES.filter((privilege) => privilege !== 'maintain' || rows[0]!.version >= 170_000);
}

const WANTED = Object.entries(GRANTS)
  .flatMap(([table, grants]) =>
    Object.entries(grants).map(
      ([role, privileges]) =>
        `${table} ${role}: ${privileges.map((privilege) => privilege.replace(/ \(.*/, '')).join(', ')}`,
    ),
  )
  .sort();

describe('the roles of the database', () => {
  it('may do with each table what grants.ts says, and nothing else', async () => {
    expect((await presentGrants()).sort()).toEqual(WANTED);
  });

  it('grants.ts names every table', async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    expect(rows.map((row) => row.name)).toEqual(Object.keys(GRANTS).sort());
  });

  const forbidden: [DatabaseRole, string, string][] = [
    [
      'gateway',
      'append to a journal',
      `insert into journal.records values ('auction', 0, 1, 1, 'event', '{}', decode(repeat('00', 32), 'hex'))`,
    ],
    ['gateway', 'take a shard over', `insert into journal.shards values ('auction', 0, 7)`],
    ['gateway', 'change a record', `update journal.records set payload = '{}'`],
    ['gateway', 'move money', `update custody.balances set amount = 1`],
    [
      'gateway',
      'enter money',
      `insert into custody.entries values (1, 'a', 'vault', 'v', '', 'available', 1)`,
    ],
    [
      'gateway',
      'record that an award has failed',
      `insert into custody.settlements values (gen_random_uuid(), 'FAILED', 'x', null, null, now())`,
    ],
    ['gateway', 'reserve an amount', `update risk.reserved set shard_0 = 1`],
    [
      'gateway',
      'vouch for funds',
      `insert into risk.evidence values ('a', 'v', 'COLLATERAL', '', 1, 0, 1, now(), now())`,
    ],
    [
      'gateway',
      'create an account',
      `insert into identity.users values (gen_random_uuid(), 'a@b', 'a@b', 'a', 'x')`,
    ],
    ['gateway', 'change a password', `update identity.users set password_hash = 'x'`],
    ['gateway', 'give itself a role', `update identity.enrolments set roles = array['OPERATOR']`],
    ['gateway', 'widen the policy', `update control.accounts_policy set may_quote = true`],
    ['gateway', 'list a contract', `update control.contracts set status = 'TRADING'`],
    ['gateway', 'hide a revocation', `update identity.version set revocations = 1`],
    ['gateway', 'change the target of a halt', `update control.halts set target = 'v'`],
    ['gateway', 'shorten a revocation', `update identity.revocations set expires_at = now()`],
    ['gateway', 'rewrite what operators did', `update control.operator_actions set operator = 'other'`],
    ['gateway', 'delete from the audit of reads', `delete from audit.reads`],
    ['gateway', 'write a projection', `update completed.auctions set status = 'CLOSED'`],
    ['owner', 'read password hashes', `select from identity.users`],
    ['owner', 'change a journal record', `update journal.records set payload = '{}'`],
    ['owner', 'remove a journal record', `delete from journal.records`],
    [
      'owner',
      'set the time at which a record was written',
      `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash, recorded_at)
       values ('auction', 0, 1, 1, 'event', '{}', decode(repeat('00', 32), 'hex'), '2001-01-01')`,
    ],
    [
      'owner',
      'set the time since which a shard has seals',
      `insert into journal.sealed (family, shard, sequence, since) values ('auction', 0, 1, '2001-01-01')`,
    ],
    [
      'owner',
      'record that an award was settled',
      `insert into custody.settlements (award_id, outcome, transaction_id, recorded_at) values (gen_random_uuid(), 'SETTLED', 1, now())`,
    ],
    ['owner', 'move money', `update custody.balances set amount = 1`],
    [
      'owner',
      'enter money',
      `insert into custody.transactions (kind, recorded_at) values ('OPENING', now())`,
    ],
    ['owner', 'vouch for funds', `update risk.evidence set amount = 1`],
    ['owner', 'change the settlement of an award', `update custody.settlements set outcome = 'SETTLED'`],
    ['owner', 'widen the policy', `update control.accounts_policy set max_quantity_atoms = 1`],
    ['settler', 'move money without entries', `update custody.balances set amount = 1`],
    [
      'settler',
      'open an account',
      `insert into custody.transactions (kind, recorded_at) values ('OPENING', now())`,
    ],
    [
      'settler',
      'enter money',
      `insert into custody.entries values (1, 'a', 'vault', 'v', '', 'available', 1)`,
    ],
    ['settler', 'name an opening', `insert into custody.openings values ('wire-1', 1)`],
    ['settler', 'change the settlement of an award', `update custody.settlements set venue = 'v'`],
    [
      'settler',
      'give an award up',
      `insert into custody.settlements (award_id, outcome, reason, recorded_at) values (gen_random_uuid(), 'FAILED', 'x', now())`,
    ],
    ['settler', 'change an entry', `update custody.entries set amount = 1`],
    ['settler', 'raise a limit', `update custody.limits set amount = 1`],
    ['settler', 'read a journal', `select from journal.records`],
    ['settler', 'release a reserved amount', `update risk.reserved set shard_0 = 0`],
    ['projector', 'append to a journal', `insert into journal.shards values ('auction', 0, 7)`],
    ['projector', 'read who may log in', `select from identity.enrolments`],
    ['projector', 'read the policy', `select from control.accounts_policy`],
    [
      'projector',
      'move money',
      `insert into custody.entries values (1, 'a', 'vault', 'v', '', 'available', 1)`,
    ],
    ['operations', 'append to a journal', `insert into journal.shards values ('auction', 0, 7)`],
    ['operations', 'move money', `update custody.balances set amount = 1`],
    ['operations', 'sign sessions', `select from identity.signing_keys`],
    ['operations', 'write a projection', `update auction_history.projection_offsets set sequence = 1`],
  ];

  it.each(forbidden)('%s cannot %s', async (role, _what, statement) => {
    expect(await attempt(role, statement)).toBe(DENIED);
  });

  it.each(DATABASE_ROLES)('%s cannot remove a guard', async (role) => {
    const statements = [
      'alter table custody.entries disable trigger entries_stay',
      'truncate control.operator_actions',
      'drop table audit.reads',
      'create table journal.other (x int)',
      'create or replace function control.refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
      `set session_replication_role = 'replica'`,
      `alter role ${roleName(name, role)} createrole`,
      `set role ${roleName(name, role === 'owner' ? 'gateway' : 'owner')}`,
    ];
    for (const statement of statements)
      expect([statement, await attempt(role, statement)]).toEqual([statement, DENIED]);
  });

  it.each(DATABASE_ROLES)('%s can call only the functions that grants.ts names', async (role) => {
    const { rows } = await database.pool.query<{ name: string }>(
      `select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname not in ('pg_catalog', 'information_schema') and has_function_privilege($1, p.oid, 'execute') order by 1`,
      [roleName(name, role)],
    );
    const called = Object.entries(CALLS).filter(([, roles]) => roles.includes(role));
    expect(rows.map((row) => row.name)).toEqual(called.map(([call]) => call.replaceAll(', ', ',')).sort());
  });

  it.each(DATABASE_ROLES)('%s cannot attach the trigger of a guard to a table of its own', async (role) => {
    expect(await attempt(role, 'create temporary table e (x int)')).toBe(
      MAY_MAKE_TEMPORARY.includes(role) ? 'done' : DENIED,
    );
    // Not even to a table on which it was granted every right.
    await database.pool.query(`create table public.own_of_${role} (account_id text)`);
    await database.pool.query(`grant all on public.own_of_${role} to ${roleName(name, role)}`);
    for (const call of ['custody.post_entries', 'risk.make_room_for_holds', 'control.bump_version']) {
      const hang = `create trigger t after insert on public.own_of_${role} for each statement execute function ${call}()`;
      expect([call, await attempt(role, hang)]).toEqual([call, DENIED]);
    }
    await database.pool.query(`drop table public.own_of_${role}`);
  });

  it('gateway cannot impose or lift a halt without an entry in the log of operators', async () => {
    const [halt, entry] = ['00000000-0000-4000-8000-000000000001', 'control.operator_actions'];
    const imposed = `insert into control.halts (halt_id, scope, what, reason, created_by, created_at)
      values ('${halt}', 'GLOBAL', '{QUOTE}', 'r', 'o', now())`;
    const lifted = `update control.halts set lifted_by = 'o', lifted_at = now() where halt_id = '${halt}'`;
    const booked = (
      action: string,
    ): string => `insert into ${entry} (action_id, operator, action, target, halt, request_id, outcome)
      values (gen_random_uuid(), 'o', '${action}', '${halt}', '{}', 'r', 'DONE')`;
    const end = 'set constraints all immediate';
    expect(await attempt('gateway', `${imposed}; ${end}`)).toBe(REFUSED);
    expect(await attempt('gateway', `${imposed}; ${booked('IMPOSE_HALT')}; ${end}`)).toBe('done');
    const presentGrants = `${imposed}; ${booked('IMPOSE_HALT')}`;
    expect(await attempt('gateway', `${presentGrants}; ${end}; ${lifted}`)).toBe(REFUSED);
    expect(await attempt('gateway', `${presentGrants}; ${lifted}; ${booked('LIFT_HALT')}; ${end}`)).toBe(
      'done',
    );
    const again = `update control.halts set lifted_by = null, lifted_at = null where halt_id = '${halt}'`;
    expect(
      await attempt('gateway', `${presentGrants}; ${lifted}; ${booked('LIFT_HALT')}; ${end}; ${again}`),
    ).toBe(REFUSED);
  });

  it('gateway cannot remove a revocation before its token has expired', async () => {
    const forgotten = 'delete from identity.revocations';
    for (const [ends, comes] of [
      [`now() + interval '1 second'`, REFUSED],
      [`now() - interval '1 second'`, 'done'],
    ]) {
      await database.pool.query(
        `insert into identity.revocations values (gen_random_uuid(), 'TOKEN', now(), ${ends}, 0)`,
      );
      expect(await attempt('gateway', forgotten)).toBe(comes);
      await database.pool.query(forgotten);
    }
  });

  it('owner may write all columns that the database does not set itself', async () => {
    for (const statement of [
      `insert into journal.records (family, shard, sequence, epoch, kind, payload, hash, seal)
       values ('auction', 0, 1, 1, 'event', '{}', decode(repeat('00', 32), 'hex'), null)`,
      `insert into journal.home (family, cluster_id, topic_prefix) values ('auction', 'c', 't') on conflict do nothing`,
      `insert into journal.sealed (family, shard, sequence) values ('auction', 0, 1) on conflict (family, shard) do nothing`,
      `insert into custody.settlements (award_id, outcome, reason, recorded_at) values (gen_random_uuid(), 'FAILED', 'x', now())
       on conflict do nothing`,
    ])
      expect([statement, await attempt('owner', statement)]).toEqual([statement, 'done']);
  });

  it('triggers may do what their callers may not', async () => {
    const grouped = `insert into control.groups values (gen_random_uuid(), 'o', 'n')`;
    expect(await attempt('gateway', grouped)).toBe('done');
    const revoked = `insert into identity.revocations values (gen_random_uuid(), 'TOKEN', now(), now(), 0)`;
    expect(await attempt('gateway', revoked)).toBe('done');
    const vouched = `insert into risk.evidence values ('a', 'v', 'COLLATERAL', '', 1, 0, 1, now(), now())`;
    expect(await attempt('settler', vouched)).toBe('done');
    const award = '0a000000-0000-8000-8000-000000000000';
    const posted = `select custody.claim_settlement('${award}');
      select custody.post_settlement('${award}', 'v', 'c/YES', 0, '{b,system:escrow,a,b,system:issuer,system:issuer}',
        '{"","",c/YES,c/NO,c/YES,c/NO}', '{-1,1,1,1,-1,-1}')`;
    // No account has that atom, and no other rule refuses the entries.
    expect(await attempt('settler', posted)).toBe('23514');
    expect(await attempt('owner', posted)).toBe(DENIED);
    expect(await attempt('settler', `select from custody.lock_balances('{a}', '{v}', '{}')`)).toBe('done');
    expect(await attempt('gateway', `select from custody.lock_balances('{a}', '{v}', '{}')`)).toBe(DENIED);
  });
});

describe('preparing the roles again', () => {
  it('revokes other grants that were made by hand', async () => {
    await database.pool.query(`grant update on custody.balances to ${roleName(name, 'gateway')}`);
    await database.pool.query(`grant update (email) on identity.users to ${roleName(name, 'gateway')}`);
    expect((await presentGrants()).sort()).not.toEqual(WANTED);
    await prepareDatabaseRoles(database.url, logins.passwords);
    expect((await presentGrants()).sort()).toEqual(WANTED);
  });

  it('keeps the limits and settings that an operator gave a role', async () => {
    const role = roleName(name, 'settler');
    await database.pool.query(
      `alter role ${role} connection limit 7; alter role ${role} set work_mem = '1MB'`,
    );
    await prepareDatabaseRoles(database.url, logins.passwords);
    const { rows } = await database.pool.query(
      'select rolconnlimit as most, rolconfig as settings from pg_roles where rolname = $1',
      [role],
    );
    expect(rows).toEqual([{ most: 7, settings: ['work_mem=1MB'] }]);
  });

  it('changes passwords, and locks out roles without one', async () => {
    const passwords: RolePasswords = Object.fromEntries(
      Object.entries({ ...logins.passwords, gateway: 'another' }).filter(([role]) => role !== 'settler'),
    );
    await prepareDatabaseRoles(database.url, passwords);
    await (await logins.connect('gateway', 'another')).end();
    await expect(logins.connect('gateway', logins.passwords.gateway)).rejects.toThrow(
      /password authentication failed/,
    );
    await expect(logins.connect('settler', logins.passwords.settler)).rejects.toThrow(
      /not permitted to log in|authentication failed/,
    );
    await prepareDatabaseRoles(database.url, logins.passwords);
  });

  it('is not needed after a rebuild of the projections', async () => {
    const reader: JournalReader = {
      heads: () => Promise.resolve(new Map()),
      read: () => Promise.reject(new Error('there is nothing to read')),
      entries: () => Promise.reject(new Error('there is nothing to read')),
    };
    await new Rebuild(auctionProjection, {
      pool: database.pool,
      reader,
      clock: new SystemClock(),
      say: () => undefined,
    }).run();
    expect((await presentGrants()).sort()).toEqual(WANTED);
  });
});
