import pg from 'pg';
import type { MigrationInterface } from 'typeorm';
import { refuseUnfitDatabase } from './fit-database.js';
import { refuseNewerDatabase } from './generation.js';
import { amidOthers, awaitTurn, migrationOptions, type MigrationPatience } from './migration-turn.js';
import { asSchemaFault } from './schema-fault.js';
import { EXIT, StartFault } from '../process/start-fault.js';

export type MigrationClass = new () => MigrationInterface;

export interface MigrationLog {
  info(fields: object, message: string): void;
  /** Receives a line if the migration has to wait. */
  readonly tell?: (line: string) => void;
}

interface MigrateOptions {
  readonly isRestore?: boolean;
  readonly patience?: MigrationPatience;
}

const NAME = 'sotto-migrate';
const SCHEMA = 'meta';
const TABLE = 'migration';
/** An arbitrary number that must never change, so that two migrators cannot run at once. */
const ADVISORY_LOCK = 7_210_554_316;

/**
 * Migrates the database. Safe to call by many processes at once, and at every start. Resolves with applied migrations of a newer
 * release, if there are any; then nothing was changed. The lock has a connection of its own, so that it also covers TypeORM's
 * steps before the first transaction.
 */
export async function migrate(
  url: string,
  migrationClasses: readonly MigrationClass[],
  log: MigrationLog,
  { isRestore = false, patience }: MigrateOptions = {},
): Promise<readonly string[]> {
  const guard = new pg.Client({
    connectionString: url,
    application_name: NAME,
    options: migrationOptions(patience),
  });
  const tell = log.tell ?? ((): void => undefined);
  guard.on('error', () => undefined);
  await guard.connect();
  try {
    await awaitTurn(guard, ADVISORY_LOCK, tell, patience);
    await (isRestore ? refuseNewerDatabase(guard) : refuseUnfitDatabase(guard));
    await guard.query(`create schema if not exists ${SCHEMA}`);
    const { pending, unknown } = await compareWith(guard, migrationClasses);
    if (pending.length === 0) return unknown;
    if (unknown.length > 0) throw otherReleaseLine(pending, unknown);
    await amidOthers(() => runMigrations(url, migrationClasses));
    for (const name of pending) log.info({ migration: name }, 'migration applied');
    return [];
  } catch (error) {
    throw asSchemaFault(error);
  } finally {
    await guard.end().catch(() => undefined);
  }
}

interface MigrationDifference {
  readonly pending: readonly string[];
  /** Applied by a newer release. */
  readonly unknown: readonly string[];
}

/** Compares before TypeORM is loaded, so that a start with an up-to-date database is fast. */
async function compareWith(
  client: pg.Client,
  classes: readonly MigrationClass[],
): Promise<MigrationDifference> {
  const table = await client.query<{ known: boolean }>('select to_regclass($1) is not null as known', [
    `${SCHEMA}.${TABLE}`,
  ]);
  const names = classes.map((migration) => migration.name);
  if (table.rows[0]?.known !== true) return { pending: names, unknown: [] };
  const applied = await client.query<{ name: string }>(`select name from ${SCHEMA}.${TABLE} order by id`);
  const done = applied.rows.map((row) => row.name);
  return {
    pending: names.filter((name) => !done.includes(name)),
    unknown: done.filter((name) => !names.includes(name)),
  };
}

/** A newer release has all migrations of an older one, so this database belongs to neither. */
function otherReleaseLine(pending: readonly string[], unknown: readonly string[]): StartFault {
  return new StartFault(
    `this database has migrations that this release does not know (${unknown.join(', ')}), and lacks some of its own (${pending.join(', ')}): it belongs to releases of another line`,
    EXIT.config,
  );
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
    applicationName: NAME,
    extra: { options: migrationOptions() },
    logging: false,
    // The default logger prints failures whatever the settings. The caller reports them.
    logger: 'debug',
    poolSize: 1,
  });
  await source.initialize();
  try {
    await source.runMigrations();
  } finally {
    await source.destroy();
  }
}
