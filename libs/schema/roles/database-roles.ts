import pg from 'pg';
import {
  amidOthers,
  awaitTurn,
  MIGRATION_NAMES,
  migrationOptions,
  type Patience,
} from '#libs/platform/database/migration-turn.js';
import { asSchemaFault } from '#libs/platform/database/schema-fault.js';
import { scramVerifier } from '#libs/platform/database/scram-verifier.js';
import { EXIT, isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import { refuseOthersGrants, takeDefaults, takeMemberships } from './given-by-others.js';
import { CALLS, DATABASE_ROLES, GRANTS, MAY_MAKE_TEMPORARY, SCHEMAS, type DatabaseRole } from './grants.js';
import { giveLocks, warnOfLocks, type LoginNames } from './lock-rights.js';
import { sessionsOfAll, USUAL_SESSIONS, type LoginSessions } from './login-sessions.js';
import { setSchemasAside } from './schemas-aside.js';
import { boundTemporaryFiles } from './temporary-files.js';

/** Those without a password may not log in. */
export type RolePasswords = Readonly<Partial<Record<DatabaseRole, string>>>;

export interface RoleCircumstances {
  readonly tell?: (line: string) => void;
  /** Of what ought to be otherwise and forbids nothing; told like the rest unless set. */
  readonly warn?: (line: string) => void;
  readonly patience?: Patience | undefined;
  readonly sessions?: LoginSessions;
  /** Nothing of a release before goes on beside this one, as it does in a rolling upgrade. */
  readonly replacesAll?: boolean;
}

/** Any constant that nobody else uses: roles and grants are changed by one at a time. */
const LOCK = 7_210_554_320;
const INSUFFICIENT_PRIVILEGE = '42501';

/** Roles belong to the whole server and clusters to a database of it, so the one bears the name of the other. */
export function roleName(database: string, role: DatabaseRole): string {
  return `${database}_${role}`;
}

function namesIn(database: string): LoginNames {
  return Object.fromEntries(DATABASE_ROLES.map((role) => [role, roleName(database, role)])) as Record<
    DatabaseRole,
    string
  >;
}

/** The same database as somebody else. */
export function urlAs(databaseUrl: string, role: DatabaseRole, password: string): string {
  const url = new URL(databaseUrl);
  url.username = roleName(decodeURIComponent(url.pathname.slice(1)), role);
  url.password = password;
  return url.href;
}

/**
 * Makes the roles where they are missing and gives each exactly what `grants.ts` says, in one transaction: whatever was granted
 * or set otherwise is taken back, and processes that run meanwhile notice nothing. After every migration. False where the role of `url`
 * may not make roles.
 */
export async function prepareDatabaseRoles(
  url: string,
  passwords: RolePasswords,
  {
    tell = () => undefined,
    warn = tell,
    patience,
    sessions = USUAL_SESSIONS,
    replacesAll = false,
  }: RoleCircumstances = {},
): Promise<boolean> {
  const client = sessionOn(url, patience);
  const watcher = sessionOn(url, patience);
  try {
    await client.connect();
    await watcher.connect();
    const { rows } = await client.query<{ database: string; may_create: boolean }>(
      `select current_database() as database,
              exists (select from pg_roles where rolname = current_user and (rolcreaterole or rolsuper)) as may_create`,
    );
    const [{ database, may_create: mayCreate }] = rows as [{ database: string; may_create: boolean }];
    if (!mayCreate) return false;
    await awaitTurn(client, LOCK, tell, patience);
    const made = { database, passwords, sessions, replacesAll };
    await amidOthers(watcher, () => bringInOrder(client, made, tell), tell);
    await warnOfNarrowness(client, sessions, warn);
    await warnOfLocks(client, namesIn(database), warn);
    return true;
  } catch (error) {
    if (!isCodedError(error) || error.code !== INSUFFICIENT_PRIVILEGE) throw asSchemaFault(error);
    throw new StartFault(
      `the database roles cannot be prepared: ${error.message}; they belong to somebody else`,
      EXIT.unavailable,
    );
  } finally {
    await client.end().catch(() => undefined);
    await watcher.end().catch(() => undefined);
  }
}

function sessionOn(url: string, patience: Patience | undefined): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    application_name: MIGRATION_NAMES.roles,
    options: migrationOptions(patience),
  });
  client.on('error', () => undefined);
  return client;
}

interface MadeRoles {
  readonly database: string;
  readonly passwords: RolePasswords;
  readonly sessions: LoginSessions;
  readonly replacesAll: boolean;
}

async function bringInOrder(
  client: pg.Client,
  { database, passwords, sessions, replacesAll }: MadeRoles,
  tell: (line: string) => void,
): Promise<void> {
  try {
    for (const role of DATABASE_ROLES)
      await setSchemasAside(client, database, roleName(database, role), tell);
    await client.query('begin');
    for (const role of DATABASE_ROLES) {
      const name = roleName(database, role);
      await makeRole(client, name, { password: passwords[role], sessions: sessions[role] });
      await takeBack(client, database, name);
    }
    const names = DATABASE_ROLES.map((role) => roleName(database, role));
    await takeMemberships(client, names);
    const bounded = DATABASE_ROLES.filter((role) => !MAY_MAKE_TEMPORARY.includes(role));
    await boundTemporaryFiles(
      client,
      bounded.map((role) => roleName(database, role)),
    );
    await client.query(grantStatements(database).join(';\n'));
    await giveLocks(client, namesIn(database), replacesAll);
    await takeDefaults(client, names);
    await refuseOthersGrants(client, names, SCHEMAS);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

interface MadeRole {
  readonly password: string | undefined;
  readonly sessions: number;
}

async function makeRole(client: pg.Client, name: string, { password, sessions }: MadeRole): Promise<void> {
  const known = await client.query('select from pg_roles where rolname = $1', [name]);
  const role = pg.escapeIdentifier(name);
  if (known.rowCount === 0) await client.query(`create role ${role}`);
  const login =
    password === undefined
      ? 'nologin password null'
      : `login password ${pg.escapeLiteral(scramVerifier(password))}`;
  await client.query(`alter role ${role} ${login} valid until 'infinity' connection limit ${sessions}`);
  await takeAttributes(client, name);
}

/** The bounds keep a login from the sessions of others only where there are as many as all of them may have. */
async function warnOfNarrowness(
  client: pg.Client,
  sessions: LoginSessions,
  warn: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query<{ most: number; kept: number }>(
    `select current_setting('max_connections')::integer as most,
            current_setting('superuser_reserved_connections')::integer
              + coalesce(current_setting('reserved_connections', true)::integer, 0) as kept`,
  );
  const [{ most, kept }] = rows as [{ most: number; kept: number }];
  const wanted = sessionsOfAll(sessions) + kept;
  if (wanted <= most) return;
  const each = DATABASE_ROLES.map((role) => `${role} ${sessions[role]}`).join(', ');
  warn(
    `one login could take the sessions that another needs: with max_connections=${most} the server has fewer than the ${wanted} that all may have (${each}); docs/operations.md says what to set (Your own PostgreSQL)`,
  );
}

/** Of what a role may do besides its grants, each that somebody has given it: to name one takes a right of its own, also where it is not there. */
async function takeAttributes(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query<{ attribute: string }>(
    `select attribute from pg_roles, lateral (values (rolsuper, 'nosuperuser'), (rolcreatedb, 'nocreatedb'),
       (rolcreaterole, 'nocreaterole'), (rolreplication, 'noreplication'), (rolbypassrls, 'nobypassrls')) given (stands, attribute)
     where rolname = $1 and given.stands`,
    [name],
  );
  if (rows.length === 0) return;
  const attributes = rows.map(({ attribute }) => attribute).join(' ');
  await client.query(`alter role ${pg.escapeIdentifier(name)} ${attributes}`);
}

/**
 * What whoever had the role's login has told it, for anybody may give settings to himself: they would be in force at each later start,
 * whatever the password is by then.
 */
async function takeBack(client: pg.Client, database: string, name: string): Promise<void> {
  const role = pg.escapeIdentifier(name);
  await client.query(`alter role ${role} reset all`);
  await client.query(`alter role ${role} in database ${pg.escapeIdentifier(database)} reset all`);
}

function grantStatements(database: string): string[] {
  const schemas = SCHEMAS;
  const everybody = DATABASE_ROLES.map((role) => identifier(database, role)).join(', ');
  return [
    // What a role was given to pass on goes from those to whom it has.
    `revoke all on all tables in schema ${schemas.join(', ')} from public, ${everybody} cascade`,
    `revoke all on all sequences in schema ${schemas.join(', ')} from public, ${everybody} cascade`,
    // Whoever may call a trigger's function can hang it on a table of its own and have it act on rows that it makes up.
    `revoke all on all functions in schema ${schemas.join(', ')} from public, ${everybody} cascade`,
    `alter default privileges revoke execute on functions from public`,
    `revoke all on schema ${schemas.join(', ')} from public, ${everybody} cascade`,
    `revoke all on database ${pg.escapeIdentifier(database)} from public, ${everybody} cascade`,
    `grant connect on database ${pg.escapeIdentifier(database)} to ${everybody}`,
    // Of which nothing is ours: a server that was upgraded from before 15 lets everybody make things there.
    `do $$ begin if to_regnamespace('public') is not null then revoke create on schema public from public, ${everybody}; end if; end $$`,
    ...MAY_MAKE_TEMPORARY.map(
      (role) =>
        `grant temporary on database ${pg.escapeIdentifier(database)} to ${identifier(database, role)}`,
    ),
    ...DATABASE_ROLES.flatMap((role) => grantsOf(role, identifier(database, role))),
  ];
}

function grantsOf(role: DatabaseRole, grantee: string): string[] {
  const tables = Object.entries(GRANTS).flatMap(([table, grants]) => {
    const privileges = grants[role];
    return privileges === undefined ? [] : [{ table, privileges }];
  });
  const schemas = new Set(tables.map(({ table }) => table.split('.')[0] ?? ''));
  return [
    `grant usage on schema ${[...schemas].join(', ')} to ${grantee}`,
    ...tables.map(({ table, privileges }) => `grant ${privileges.join(', ')} on ${table} to ${grantee}`),
    ...Object.entries(CALLS)
      .filter(([, roles]) => roles.includes(role))
      .map(([call]) => `grant execute on function ${call} to ${grantee}`),
  ];
}

function identifier(database: string, role: DatabaseRole): string {
  return pg.escapeIdentifier(roleName(database, role));
}
