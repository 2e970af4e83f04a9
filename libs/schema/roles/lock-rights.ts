import pg from 'pg';
import { IS_EVERYBODYS, IS_FOR_FEW, takeFromEverybody } from '#libs/platform/database/lock-functions.js';
import { LOCKS, type DatabaseRole } from './grants.js';

/** What processes of 0.2.0 call besides; their logins were left it by the migration behind which they go on. Goes with the next release. */
const OF_BEFORE: Readonly<Record<string, DatabaseRole>> = {
  'pg_try_advisory_lock(integer,integer)': 'projector',
  'pg_try_advisory_xact_lock(bigint)': 'executor',
  'pg_advisory_xact_lock(bigint)': 'operations',
};

const TABLE_OWNER = `select pg_get_userbyid(relowner) as owner from pg_class where oid = 'meta.migration'::regclass`;

const GIVEN = `
  select p.oid::regprocedure::text as call, r.rolname as name
  from pg_proc p, aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee where ${IS_FOR_FEW} and r.rolname = any ($1)
  order by 1, 2`;

export type LoginNames = Readonly<Record<DatabaseRole, string>>;

interface Given {
  readonly call: string;
  readonly name: string;
}

/**
 * Gives each login the functions of PostgreSQL's own by which it takes locks, and takes all others away, from everybody too: where the role
 * of the migration may not do that PostgreSQL warns, and nothing happens. `replacesAll`: nothing of a release before goes on beside this one.
 */
export async function giveLocks(client: pg.Client, names: LoginNames, replacesAll: boolean): Promise<void> {
  const { rows } = await client.query<{ owner: string }>(TABLE_OWNER);
  await client.query(takeFromEverybody(rows[0]?.owner ?? ''));
  for (const [call, roles] of Object.entries(LOCKS))
    for (const role of roles)
      await client.query(`grant execute on function ${call} to ${pg.escapeIdentifier(names[role])}`);
  for (const { call, name } of await givenTo(client, names)) {
    const isLeft = !replacesAll && isOfBefore(names, { call, name });
    if (!isLeft && !isGiven(names, { call, name })) await client.query(`${takeBack({ call, name })} cascade`);
  }
}

async function givenTo(client: pg.Client, names: LoginNames): Promise<readonly Given[]> {
  return (await client.query<Given>(GIVEN, [Object.values(names)])).rows;
}

function isGiven(names: LoginNames, { call, name }: Given): boolean {
  return (LOCKS[call] ?? []).some((role) => names[role] === name);
}

function isOfBefore(names: LoginNames, { call, name }: Given): boolean {
  const role = OF_BEFORE[call];
  return role !== undefined && names[role] === name;
}

const WHERE = 'docs/operations.md says what to set (Your own PostgreSQL)';

interface Room {
  readonly open: boolean;
  readonly most: number;
  readonly relations: number;
  /** Databases that every server has, in which nobody takes anything from anybody. */
  readonly aside: string | null;
}

/** Of what lets one login use up the locks that all sessions share, and forbids nothing. */
export async function warnOfLocks(
  client: pg.Client,
  names: LoginNames,
  warn: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query<Room>(
    `select exists (select from pg_proc p where ${IS_FOR_FEW} and ${IS_EVERYBODYS}) as open,
       current_setting('max_locks_per_transaction')::integer as most, (select count(*)::integer from pg_class) as relations,
       (select string_agg(d.datname, ', ' order by d.datname) from pg_database d where d.datname in ('postgres', 'template1')
          and exists (select from unnest($1::text[]) name where has_database_privilege(name, d.oid, 'connect'))) as aside`,
    [Object.values(names)],
  );
  const [{ open, most, relations, aside }] = rows as [Room];
  if (open)
    warn(
      `any login can use up the locks of the server: pg_advisory_lock and its like are everybody's; ${WHERE}`,
    );
  if (aside !== null)
    warn(
      `any login can use up the locks of the server from where it has nothing to do: it may connect to ${aside}; ${WHERE}`,
    );
  if (most <= relations)
    warn(
      `logins can use up the locks of the server: max_locks_per_transaction=${most}, and there are ${relations} relations; ${WHERE}`,
    );
  const lacking = await lackingOf(client, names);
  if (lacking.length > 0)
    warn(
      `processes will not work: this role could not give ${lacking.map(({ call, name }) => `${call} to ${name}`).join(', ')}; ${WHERE}`,
    );
  const left = (await givenTo(client, names)).filter((given) => !isGiven(names, given));
  if (left.length > 0)
    warn(
      `logins may take locks as processes of a release before 0.3.0 do; when none of those runs: ${left.map(takeBack).join('; ')}`,
    );
}

/** A role that may not pass a function on is told so by PostgreSQL alone, and the grant is none. */
async function lackingOf(client: pg.Client, names: LoginNames): Promise<readonly Given[]> {
  const wanted = Object.entries(LOCKS).flatMap(([call, roles]) =>
    roles.map((role) => ({ call, name: names[role] })),
  );
  const { rows } = await client.query<Given>(
    `select call, name from unnest($1::text[], $2::text[]) wanted (call, name)
     where not has_function_privilege(name, call, 'execute')`,
    [wanted.map(({ call }) => call), wanted.map(({ name }) => name)],
  );
  return rows;
}

function takeBack({ call, name }: Given): string {
  return `revoke execute on function ${call} from ${pg.escapeIdentifier(name)}`;
}
