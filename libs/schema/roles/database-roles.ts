import pg from 'pg';
import {
  amidOthers,
  awaitTurn,
  migrationOptions,
  type MigrationPatience,
  type Tell,
} from '#libs/platform/database/migration-turn.js';
import { asSchemaFault } from '#libs/platform/database/schema-fault.js';
import { EXIT, isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import { CALLS, DATABASE_ROLES, type DatabaseRole, GRANTS, MAY_MAKE_TEMPORARY, SCHEMAS } from './grants.js';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** Those without a password may not log in. */
export type RolePasswords = Readonly<Partial<Record<DatabaseRole, string>>>;

interface RoleCircumstances {
  readonly tell?: Tell;
  readonly patience?: MigrationPatience;
}

/** Any constant that nobody else uses: roles and grants are changed by one at a time. */
const LOCK = 7_210_554_320;
const INSUFFICIENT_PRIVILEGE = '42501';

/** Roles belong to the whole server and clusters to a database of it, so the one bears the name of the other. */
export function roleName(database: string, role: DatabaseRole): string {
  return `${database}_${role}`;
}

/** The same database as somebody else. */
export function urlAs(databaseUrl: string, role: DatabaseRole, password: string): string {
  const url = new URL(databaseUrl);
  url.username = roleName(decodeURIComponent(url.pathname.slice(1)), role);
  url.password = password;
  return url.href;
}

/**
 * Makes the roles where they are missing and gives each what `grants.ts` says of the product's tables and functions, in one transaction. What
 * was granted otherwise is taken back, and processes that run meanwhile notice nothing. Settings and limits that an operator gave a
 * role stay. After every migration. False where the role of `url` may not make roles.
 */
export async function prepareDatabaseRoles(
  url: string,
  passwords: RolePasswords,
  { tell = () => undefined, patience }: RoleCircumstances = {},
): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sotto-roles',
    options: migrationOptions(patience),
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ database: string; may_create: boolean }>(
      `select current_database() as database,
              exists (select from pg_roles where rolname = current_user and (rolcreaterole or rolsuper)) as may_create`,
    );
    const [{ database, may_create: mayCreate }] = rows as [{ database: string; may_create: boolean }];
    if (!mayCreate) return false;
    await awaitTurn(client, LOCK, tell, patience);
    await amidOthers(() => bringInOrder(client, database, passwords));
    return true;
  } catch (error) {
    if (!isCodedError(error) || error.code !== INSUFFICIENT_PRIVILEGE) throw asSchemaFault(error);
    throw new StartFault(
      `the database roles cannot be prepared: ${error.message}; they belong to somebody else`,
      EXIT.unavailable,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function bringInOrder(client: pg.Client, database: string, passwords: RolePasswords): Promise<void> {
  try {
    await client.query('begin');
    for (const role of DATABASE_ROLES) await makeRole(client, roleName(database, role), passwords[role]);
    await client.query(grantStatements(database).join(';\n'));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function makeRole(client: pg.Client, name: string, password: string | undefined): Promise<void> {
  const known = await client.query('select from pg_roles where rolname = $1', [name]);
  const role = pg.escapeIdentifier(name);
  if (known.rowCount === 0) await client.query(`create role ${role}`);
  const login =
    password === undefined
      ? 'nologin password null'
      : `login password ${pg.escapeLiteral(scramVerifier(password))}`;
  await client.query(`alter role ${role} ${login}`);
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

const ITERATIONS = 4_096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * What PostgreSQL keeps of a password (RFC 5802). A statement that sets a password may end up in the server's log, so it is given
 * this, which is of no use for a login. Only for passwords of plain ASCII, which need no SASLprep.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, KEY_BYTES, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
