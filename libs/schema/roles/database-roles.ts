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

/** A role without a password may not log in. */
export type RolePasswords = Readonly<Partial<Record<DatabaseRole, string>>>;

interface RoleOptions {
  readonly tell?: Tell;
  readonly patience?: MigrationPatience;
}

/** An arbitrary constant that is used nowhere else. Only one process at a time changes roles and grants. */
const LOCK = 7_210_554_320;
const INSUFFICIENT_PRIVILEGE = '42501';

/** Roles belong to the whole database server, so their names begin with the name of the cluster's database. */
export function roleName(database: string, role: DatabaseRole): string {
  return `${database}_${role}`;
}

/** The URL of the same database for another role. */
export function urlAs(databaseUrl: string, role: DatabaseRole, password: string): string {
  const url = new URL(databaseUrl);
  url.username = roleName(decodeURIComponent(url.pathname.slice(1)), role);
  url.password = password;
  return url.href;
}

/**
 * Creates missing roles and grants each exactly what `grants.ts` says, in one transaction. Other grants are revoked; running
 * processes notice nothing. Settings and limits that an operator gave a role stay. Runs after every migration. Returns false if
 * the role of `url` may not create roles.
 */
export async function prepareDatabaseRoles(
  url: string,
  passwords: RolePasswords,
  { tell = () => undefined, patience }: RoleOptions = {},
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
    await amidOthers(() => applyRoles(client, database, passwords));
    return true;
  } catch (error) {
    if (!isCodedError(error) || error.code !== INSUFFICIENT_PRIVILEGE) throw asSchemaFault(error);
    throw new StartFault(
      `the database roles cannot be prepared: ${error.message}; they belong to another user`,
      EXIT.unavailable,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function applyRoles(client: pg.Client, database: string, passwords: RolePasswords): Promise<void> {
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
  const allRoles = DATABASE_ROLES.map((role) => identifier(database, role)).join(', ');
  return [
    // `cascade` also revokes what the role has granted to others.
    `revoke all on all tables in schema ${schemas.join(', ')} from public, ${allRoles} cascade`,
    `revoke all on all sequences in schema ${schemas.join(', ')} from public, ${allRoles} cascade`,
    // A role that may call a trigger's function can attach it to a table of its own, and let it act on invented rows.
    `revoke all on all functions in schema ${schemas.join(', ')} from public, ${allRoles} cascade`,
    `alter default privileges revoke execute on functions from public`,
    `revoke all on schema ${schemas.join(', ')} from public, ${allRoles} cascade`,
    `revoke all on database ${pg.escapeIdentifier(database)} from public, ${allRoles} cascade`,
    `grant connect on database ${pg.escapeIdentifier(database)} to ${allRoles}`,
    // The product uses nothing in `public`. A server upgraded from before version 15 lets every role create objects there.
    `do $$ begin if to_regnamespace('public') is not null then revoke create on schema public from public, ${allRoles}; end if; end $$`,
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
 * The form in which PostgreSQL stores a password (RFC 5802). A statement that sets a password may be logged by the server, so it
 * contains this form, which is useless for a login. Only for ASCII passwords, which need no SASLprep.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(SALT_BYTES)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, KEY_BYTES, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
