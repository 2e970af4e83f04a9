import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { RestoredMark } from '#libs/journal/restored/restored-mark.js';
import { SHARDS } from '#libs/owner-link/routing.js';
import { beginJournalLife } from '#libs/journal/life/journal-life.js';
import { migrate } from '#libs/platform/migrate.js';
import { openPool, withTransaction } from '#libs/platform/postgres.js';
import { StartFault } from '#libs/platform/start-fault.js';
import { beginRestore, endRestore, refuseUnfinishedRestore } from '#libs/platform/unfinished-restore.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { BackupDamaged, readManifest, unnamedAmong, type Manifest } from './manifest.js';
import { readRows } from './row-file.js';

const PAGE = 1_000;
const RESTORE = { isRestore: true };
const SILENT = { info: (): void => undefined };

/** Every file, from its first line to its last. */
export async function checkBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  await refuseUnnamed(folder, manifest);
  for (const file of manifest.tables) {
    let rows = 0;
    for await (const page of readRows(folder, file, PAGE)) rows += page.length;
    if (rows !== file.rows) throw new BackupDamaged(`${file.name} has ${rows} rows instead of ${file.rows}`);
  }
  return manifest;
}

/** Somebody has taken it out of the manifest, put it there, or files of two backups lie together: nobody can say which is right. */
async function refuseUnnamed(folder: string, manifest: Manifest): Promise<void> {
  const [stray] = unnamedAmong(await readdir(folder), manifest);
  if (stray === undefined) return;
  throw new BackupDamaged(`${path.join(folder, stray)} is there, and the manifest does not name it`);
}

/**
 * Makes the tables as they were when the backup was taken, fills them in one transaction, and then brings them up to date as a
 * new version would: so a backup of any earlier version is one of this version. From before the first table to the end a mark tells
 * everybody else that it is not whole.
 */
export async function restoreBackup(
  databaseUrl: string,
  folder: string,
  tell: (line: string) => void,
): Promise<Manifest> {
  const manifest = await checkBackup(folder);
  const former = allMigrations.filter(({ name }) => manifest.migrations.includes(name));
  const unknown = manifest.migrations.filter((name) => !former.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new StartFault(`the backup is of a later version, which has ${unknown.join(', ')}`);
  }
  const pool = openPool(databaseUrl, { applicationName: 'sotto-restore', max: 1 });
  try {
    await refuseUsed(pool);
    await beginRestore(pool);
    await migrate(databaseUrl, former, SILENT, RESTORE);
    await withTransaction(pool, 'read committed', (client) => fill(client, folder, manifest, tell));
    await migrate(databaseUrl, allMigrations, SILENT, RESTORE);
    await beginJournalLife(pool);
    await pool.query('analyze');
    await endRestore(pool);
  } finally {
    await pool.end();
  }
  return manifest;
}

async function refuseUsed(pool: Pool): Promise<void> {
  await refuseUnfinishedRestore(pool);
  const { rowCount } = await pool.query(
    `select from pg_tables where schemaname not in ('pg_catalog', 'information_schema') limit 1`,
  );
  if (rowCount === 0) return;
  throw new StartFault('the database is not empty: a backup is restored into one that holds nothing');
}

/** What was written under the guards of the tables is put back without them: they would count versions and balances anew. */
async function fill(
  client: PoolClient,
  folder: string,
  { tables, sequences, taken_at: takenAt }: Manifest,
  tell: (line: string) => void,
): Promise<void> {
  await client.query(`set local idle_in_transaction_session_timeout = 0`);
  const names = tables.map(({ name }) => name);
  for (const name of names) await client.query(`alter table ${name} disable trigger user`);
  // A migration may have put a first row in.
  await client.query(`truncate ${names.join(', ')}`);
  for (const file of tables) {
    for await (const page of readRows(folder, file, PAGE)) {
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
  await RestoredMark.set(client, { shards: SHARDS, tables: names, takenAt });
  // With the rows, so that no process ever finds them in their former life. A backup of before lives were told apart is given one later.
  if (names.includes('journal.life')) await beginJournalLife(client);
}
