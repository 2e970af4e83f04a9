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
  /** The migrations that the backed up database had. */
  readonly former: typeof allMigrations;
}

/** Every file, from its first line to its last. */
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

/** A backup that this version can restore. To be asked before anything is made for it. */
export async function backupToRestore(folder: string): Promise<BackupToRestore> {
  const manifest = await checkBackup(folder);
  const former = allMigrations.filter(({ name }) => manifest.migrations.includes(name));
  const unknown = manifest.migrations.filter((name) => !former.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new StartFault(`the backup is of a later version, which has ${unknown.join(', ')}`);
  }
  return { folder, manifest, former };
}

/** The manifest was changed, or files of two backups lie together: which is right cannot be known. */
async function refuseUnnamed(folder: string, manifest: Manifest): Promise<void> {
  const [stray] = unnamedAmong(await readdir(folder), manifest);
  if (stray === undefined) return;
  throw new BackupDamaged(`${path.join(folder, stray)} is there, and the manifest does not name it`);
}

/** One that is left out would be there afterwards, and empty: without halts everybody trades again. A later release may make more than are known here. */
function refuseIncomplete(folder: string, { tables, migrations }: Manifest): void {
  const named = new Set(tables.map(({ name }) => name));
  const missing = tablesMadeBy(migrations).filter((name) => !named.has(name));
  if (missing.length === 0) return;
  throw new BackupDamaged(
    `${path.join(folder, 'manifest.json')} does not name ${missing.join(', ')}, which a database with its migrations has`,
  );
}

/**
 * Makes the tables as they were when the backup was taken, fills them in one transaction, and then brings them up to date as a
 * new version would: so a backup of any earlier version is one of this version. From before the first table to the end a mark tells
 * everybody else that it is not whole.
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

/** Of a restore whose rows are all there, whatever kept it from its end. Resolves with what was restored. */
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

/** A value, a reference or a table that is not as the rows say: somebody has changed them, and the manifest with them. */
function isUnfit(error: unknown): error is Error {
  return error instanceof Error && isCodedError(error) && /^(?:2[23]\w{3}|42P01)$/.test(error.code);
}

/** Each step may be done again, but for the last, which is done once: whoever begins behind it finds all of it. */
async function bringToEnd(databaseUrl: string, pool: Pool): Promise<void> {
  try {
    const later = await migrate(databaseUrl, allMigrations, SILENT, RESTORE);
    if (later.length > 0) {
      throw new StartFault(`a later version has begun this, with ${later.join(', ')}`, EXIT.config);
    }
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    throw new StartFault(
      `${error.message}. All rows of the backup are in the database, and nothing starts on it: when this is put right, npm run backup -- restore --resume goes on`,
      error.exitCode,
    );
  }
  await pool.query('analyze');
  await withTransaction(pool, 'read committed', async (client) => {
    await endRestore(client);
    await beginIncarnation(client);
  });
}

/** Whatever somebody has made there, or whatever bears the name of a schema of ours, but for an empty `meta`, which is taken as it is. What comes with an extension a new database may have. */
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

/** Before the first thing is written, the mark included. */
async function refuseUsed(pool: Pool): Promise<void> {
  await refuseUnfinishedRestore(pool);
  const { rows } = await pool.query<{ what: string; count: number }>(FOREIGN, [SCHEMAS]);
  if (rows[0] === undefined) return;
  const more = rows[0].count - rows.length;
  const found = `${rows.map(({ what }) => what).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  throw new StartFault(
    `the database is not empty: a backup is restored into one that holds nothing, and there is ${found}`,
  );
}

/** By table that is partitioned by month, when a row is of. */
const MONTHLY: ReadonlyMap<string, string> = new Map([
  ['data.trades', 'ts'],
  ['data.candles', 'bucket'],
]);

/** A new database has no months yet. */
async function makeMonths(client: PoolClient, table: string, page: readonly string[]): Promise<void> {
  const column = MONTHLY.get(table);
  if (column === undefined) return;
  await client.query(
    `select data.make_months('data', array(select distinct (text_::${table}).${column} from unnest($1::text[]) as text_))`,
    [page],
  );
}

/** What was written under the guards of the tables is put back without them: they would count versions and balances anew. */
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
  // A migration may have put a first row in.
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
  // With the rows, so that no process ever finds them in their former life.
  await beginIncarnation(client);
}
