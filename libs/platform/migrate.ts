import pg from 'pg';
import type { MigrationInterface } from 'typeorm';

export type MigrationClass = new () => MigrationInterface;

export interface MigrationLog {
  info(fields: object, message: string): void;
}

const SCHEMA = 'meta';
const TABLE = 'migration';
/** Any constant will do as long as it never changes: it is what keeps two migrators apart. */
const ADVISORY_LOCK = 7_210_554_316;

/**
 * Brings the database up to date; safe to call from many processes at once, and again at every start. The lock lives on
 * a connection of its own, so that it also covers what TypeORM does before its first transaction.
 */
export async function migrate(
  url: string,
  migrationClasses: readonly MigrationClass[],
  log: MigrationLog,
): Promise<void> {
  const guard = new pg.Client({ connectionString: url, application_name: 'sotto-migrate' });
  guard.on('error', () => undefined);
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await guard.query(`create schema if not exists ${SCHEMA}`);
    const pending = await pendingMigrations(guard, migrationClasses);
    if (pending.length === 0) return;
    await runMigrations(url, migrationClasses);
    for (const name of pending) log.info({ migration: name }, 'migration applied');
  } finally {
    await guard.end().catch(() => undefined);
  }
}

/** Asked before TypeORM is loaded: an up-to-date database should cost a start next to nothing. */
async function pendingMigrations(client: pg.Client, classes: readonly MigrationClass[]): Promise<string[]> {
  const table = await client.query<{ known: boolean }>('select to_regclass($1) is not null as known', [
    `${SCHEMA}.${TABLE}`,
  ]);
  const names = classes.map((migration) => migration.name);
  if (table.rows[0]?.known !== true) return names;
  const applied = await client.query<{ name: string }>(`select name from ${SCHEMA}.${TABLE}`);
  const done = new Set(applied.rows.map((row) => row.name));
  return names.filter((name) => !done.has(name));
}

async function runMigrations(url: string, classes: readonly MigrationClass[]): Promise<void> {
  const { DataSource } = await import('typeorm');
  const source = new DataSource({
    type: 'postgres',
    url,
    schema: SCHEMA,
    migrationsTableName: TABLE,
    migrationsTransactionMode: 'each',
    migrations: [...classes],
    applicationName: 'sotto-migrate',
    logging: false,
    poolSize: 1,
  });
  await source.initialize();
  try {
    await source.runMigrations();
  } finally {
    await source.destroy();
  }
}
