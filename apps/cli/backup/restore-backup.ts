import path from 'node:path';
import { readdir } from 'node:fs/promises';
import type { Pool, PoolClient } from 'pg';
import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import { beginIncarnation } from '#libs/journal/incarnation/topic-incarnation.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { openPool, withTransaction } from '#libs/platform/database/postgres.js';
import { EXIT, isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import {
  beginRestore,
  endRestore,
  findFilled,
  noteFilled,
  refuseUnfinishedRestore,
} from '#libs/platform/database/unfinished-restore.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { SCHEMAS } from '#libs/schema/roles/grants.js';
import { tablesMadeBy } from '#libs/schema/tables-of-migrations.js';
import { BackupDamaged, type Manifest, manifestNoted, readManifest, unnamedAmong } from './manifest.js';
import { readRows } from './row-file.js';

const PAGE = 1_000;
const AUCTION_JOURNALS = Array.from({ length: SHARDS }, (_, shard) => ({
  family: 'auction' as const,
  shard,
}));
const RESTORE = { isRestore: true };
const SILENT = { info: (): void => undefined };

export interface BackupToRestore {
  readonly folder: string;
  readonly manifest: Manifest;
  /** The migrations that the backed-up database had. */
  readonly former: typeof allMigrations;
}

/** Reads every file to its end. */
export async function checkBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  await refuseUnnamed(folder, manifest);
  refuseIncomplete(folder, manifest);
  for (const file of manifest.tables) {
    let rows = 0;
    for await (const page of readRows(folder, file, PAGE)) rows += page.length;
    if (rows !== file.rows) throw new BackupDamaged(`${file.name} has ${rows} rows instead of ${file.rows}`);
  }
  return manifest;
}

/** Checks that this version can restore the backup. Call it before a database is made for the restore. */
export async function backupToRestore(folder: string): Promise<BackupToRestore> {
  const manifest = await checkBackup(folder);
  const former = allMigrations.filter(({ name }) => manifest.migrations.includes(name));
  const unknown = manifest.migrations.filter((name) => !former.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new StartFault(`the backup comes from a later version, which has ${unknown.join(', ')}`);
  }
  return { folder, manifest, former };
}

/** The manifest was changed, or two backups are mixed. Which one is right cannot be known. */
async function refuseUnnamed(folder: string, manifest: Manifest): Promise<void> {
  const [stray] = unnamedAmong(await readdir(folder), manifest);
  if (stray === undefined) return;
  throw new BackupDamaged(`${path.join(folder, stray)} is there, and the manifest does not name it`);
}

/**
 * A missing table would be empty afterwards: without halts everyone trades again. Later releases may have
 * more tables.
 */
function refuseIncomplete(folder: string, { tables, migrations }: Manifest): void {
  const named = new Set(tables.map(({ name }) => name));
  const missing = tablesMadeBy(migrations).filter((name) => !named.has(name));
  if (missing.length === 0) return;
  throw new BackupDamaged(
    `${path.join(folder, 'manifest.json')} does not name ${missing.join(', ')}, which a database with its migrations has`,
  );
}

/**
 * Makes the tables of the backup's version, fills them in one transaction and migrates them. A mark in the
 * database keeps other programs out until the end.
 */
export async function restoreBackup(
  databaseUrl: string,
  { folder, manifest, former }: BackupToRestore,
  tell: (line: string) => void,
): Promise<void> {
  await onDatabase(databaseUrl, async (pool) => {
    await refuseUsed(pool);
    await beginRestore(pool);
    await migrate(databaseUrl, former, SILENT, RESTORE);
    try {
      await withTransaction(pool, 'read committed', (client) => fill(client, folder, manifest, tell));
    } catch (error) {
      throw isUnfit(error) ? new BackupDamaged(`its rows do not fit their tables: ${error.message}`) : error;
    }
    await bringToEnd(databaseUrl, pool);
  });
}

/** Finishes a restore whose rows are all there. Resolves with the manifest. */
export async function resumeRestore(databaseUrl: string): Promise<Manifest> {
  return await onDatabase(databaseUrl, async (pool) => {
    const manifest = manifestNoted(await findFilled(pool));
    await bringToEnd(databaseUrl, pool);
    return manifest;
  });
}

async function onDatabase<T>(databaseUrl: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(databaseUrl, { applicationName: 'sotto-restore', max: 1 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Values or references do not fit the tables: rows and manifest were changed together. */
function isUnfit(error: unknown): error is Error {
  return error instanceof Error && isCodedError(error) && /^(?:2[23]\w{3}|42P01)$/.test(error.code);
}

/** Every step may be repeated except the last, which runs once. A later call finds it done. */
async function bringToEnd(databaseUrl: string, pool: Pool): Promise<void> {
  try {
    const later = await migrate(databaseUrl, allMigrations, SILENT, RESTORE);
    if (later.length > 0) {
      throw new StartFault(`a later version began this restore, with ${later.join(', ')}`, EXIT.config);
    }
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    throw new StartFault(
      `${error.message}. All rows of the backup are in the database, and nothing starts on it. Correct this, then run npm run backup -- restore --resume`,
      error.exitCode,
    );
  }
  await pool.query('analyze');
  await withTransaction(pool, 'read committed', async (client) => {
    await endRestore(client);
    await beginIncarnation(client);
  });
}

/**
 * Finds what others made in the database, and schemas with names of ours. Ignores an empty `meta` and what
 * extensions bring.
 */
const FOREIGN = `
  with theirs as (select oid, nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'),
  made (kind, what, class, oid) as (
    select 'schema', quote_ident(nspname), 'pg_namespace'::regclass, oid from theirs where nspname = any ($1) and nspname <> 'meta'
    union all select case relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'view' else 'table' end,
      quote_ident(nspname) || '.' || quote_ident(relname), 'pg_class'::regclass, c.oid
    from pg_class c join theirs on theirs.oid = relnamespace where relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    union all select 'function', p.oid::regprocedure::text, 'pg_proc'::regclass, p.oid from pg_proc p join theirs on theirs.oid = pronamespace
    union all select 'type', t.oid::regtype::text, 'pg_type'::regclass, t.oid from pg_type t join theirs on theirs.oid = typnamespace
    where typtype in ('d', 'e', 'r')
  )
  select kind || ' ' || what as what, count(*) over ()::integer as count from made
  where not exists (select from pg_depend d where d.classid = made.class and d.objid = made.oid and d.deptype = 'e')
  order by kind, what limit 3`;

/** Runs before the first write, the mark included. */
async function refuseUsed(pool: Pool): Promise<void> {
  await refuseUnfinishedRestore(pool);
  const { rows } = await pool.query<{ what: string; count: number }>(FOREIGN, [SCHEMAS]);
  if (rows[0] === undefined) return;
  const more = rows[0].count - rows.length;
  const found = `${rows.map(({ what }) => what).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  throw new StartFault(`the database is not empty: a restore needs an empty one, and this has ${found}`);
}

/** By table that is partitioned by month: the column that decides the month. */
const MONTHLY: ReadonlyMap<string, string> = new Map([
  ['data.trades', 'ts'],
  ['data.candles', 'bucket'],
]);

/** A new database has no partitions of months yet. */
async function makeMonths(client: PoolClient, table: string, page: readonly string[]): Promise<void> {
  const column = MONTHLY.get(table);
  if (column === undefined) return;
  await client.query(
    `select data.make_months('data', array(select distinct (text_::${table}).${column} from unnest($1::text[]) as text_))`,
    [page],
  );
}

/** Triggers are off: they would count versions and balances a second time. */
async function fill(
  client: PoolClient,
  folder: string,
  manifest: Manifest,
  tell: (line: string) => void,
): Promise<void> {
  const { tables, sequences, taken_at: takenAt } = manifest;
  await client.query(`set local idle_in_transaction_session_timeout = 0`);
  const names = tables.map(({ name }) => name);
  for (const name of names) await client.query(`alter table ${name} disable trigger user`);
  // A migration may have inserted a first row.
  await client.query(`truncate ${names.join(', ')}`);
  for (const file of tables) {
    for await (const page of readRows(folder, file, PAGE)) {
      await makeMonths(client, file.name, page);
      await client.query(
        `insert into ${file.name} overriding system value
         select (given.row_).* from (select text_::${file.name} as row_ from unnest($1::text[]) as text_ offset 0) as given`,
        [page],
      );
    }
    tell(`${file.name}: ${file.rows} rows`);
  }
  for (const { name, last_value: last } of sequences)
    await client.query('select setval($1, $2)', [name, last]);
  for (const name of names) await client.query(`alter table ${name} enable trigger user`);
  await noteFilled(client, manifest);
  await RestoredMark.set(client, { journals: AUCTION_JOURNALS, takenAt });
  // Together with the rows, so that no process finds them under their former incarnation.
  await beginIncarnation(client);
}
