import pg from 'pg';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, roleName, urlAs } from '#libs/schema/roles/database-roles.js';
import { DATABASE_ROLES, type DatabaseRole } from '#libs/schema/roles/grants.js';

/** SQLSTATE of a statement that a guard refuses, whatever the rights. */
export const REFUSED = '23000';

export function nameOf({ url }: Pick<TestDatabase, 'url'>): string {
  return new URL(url).pathname.slice(1);
}

/** Roles belong to the server and outlive a database, but their rights in it must not. */
export async function takeRolesOut(database: TestDatabase): Promise<void> {
  const name = nameOf(database);
  for (const role of DATABASE_ROLES) {
    await database.pool.query(`drop owned by ${roleName(name, role)}`).catch(() => undefined);
    await database.pool
      .query(`revoke all on database ${name} from ${roleName(name, role)}`)
      .catch(() => undefined);
  }
}

export async function dropWithRoles(database: TestDatabase): Promise<void> {
  await takeRolesOut(database);
  await database.drop();
}

/** A database of the product with a session for each process's login, as an intruder in that process would have it. */
export class RoleLogins {
  private readonly clients = new Map<DatabaseRole, pg.Client>();

  private constructor(
    readonly database: TestDatabase,
    readonly passwords: Readonly<Record<DatabaseRole, string>>,
  ) {}

  static async open(): Promise<RoleLogins> {
    const database = await createTestDatabase(allMigrations);
    const passwords = Object.fromEntries(DATABASE_ROLES.map((role) => [role, `${role}-password`])) as Record<
      DatabaseRole,
      string
    >;
    const logins = new RoleLogins(database, passwords);
    if (!(await prepareDatabaseRoles(database.url, passwords))) throw new Error('no roles can be made here');
    for (const role of DATABASE_ROLES) logins.clients.set(role, await logins.connect(role, passwords[role]));
    return logins;
  }

  get name(): string {
    return nameOf(this.database);
  }

  async connect(role: DatabaseRole, password: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: urlAs(this.database.url, role, password) });
    await client.connect();
    return client;
  }

  /** Returns the SQLSTATE of a refusal, or `done`. Rolls everything back. */
  async attempt(role: DatabaseRole, statement: string): Promise<string> {
    const client = this.clients.get(role);
    if (client === undefined) throw new Error(`there is no session of ${role}`);
    await client.query('begin');
    try {
      await client.query(statement);
      return 'done';
    } catch (error) {
      return (error as pg.DatabaseError).code ?? 'no code';
    } finally {
      await client.query('rollback');
    }
  }

  async close(): Promise<void> {
    for (const client of this.clients.values()) await client.end();
    await dropWithRoles(this.database);
  }
}
