import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/postgres.js';
import { makeFolder } from '#libs/platform/make-folder.js';
import { isCodedError, StartFault } from '#libs/platform/start-fault.js';
import { GRANTS } from '#libs/schema/roles/grants.js';
import { FORMAT, manifestPath, type Manifest, type TableFile } from './manifest.js';
import { writeRows } from './row-file.js';

export interface BackupPorts {
  readonly pool: Pool;
  readonly tell: (line: string) => void;
}

const PAGE = 2_000;
/** Its tables are made by the migrations themselves, which run again when a backup is restored. */
const BOOKKEEPING = 'meta.';

/**
 * All tables in one transaction that sees one moment of the database: ledger, reservations, journals and projections fit together
 * as they did then, whatever is written meanwhile. Nobody waits for it. The folder appears when it is whole.
 */
export async function createBackup({ pool, tell }: BackupPorts, folder: string): Promise<Manifest> {
  const partial = `${path.resolve(folder)}.partial`;
  const manifest = await withTransaction(pool, 'repeatable read, read only', async (client) => {
    // Not before there is a database: a call that finds none leaves nothing behind.
    await refuseExisting(folder);
    await rm(partial, { recursive: true, force: true });
    await makeFolder(partial, 0o700);
    return await copyAll(client, partial, tell);
  });
  await writeFile(manifestPath(partial), `${JSON.stringify(manifest, undefined, 2)}\n`, { flush: true });
  await rename(partial, folder);
  return manifest;
}

async function refuseExisting(folder: string): Promise<void> {
  await makeFolder(path.dirname(path.resolve(folder)), 0o755);
  try {
    await mkdir(folder);
    await rm(folder, { recursive: true });
  } catch (error) {
    if (!isCodedError(error) || error.code !== 'EEXIST') throw error;
    throw new StartFault(`${folder} exists already: a backup is never written over another`);
  }
}

async function copyAll(client: PoolClient, folder: string, tell: (line: string) => void): Promise<Manifest> {
  const head = await client.query<{ taken_at: string; server_version: string }>(
    `select to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at,
            current_setting('server_version') as server_version`,
  );
  const migrations = await client.query<{ name: string }>(`select name from meta.migration order by id`);
  const tables: TableFile[] = [];
  for (const table of await tablesInOrder(client)) {
    const file = await writeRows(folder, table, pagesOf(client, table));
    tables.push(file);
    tell(`${table}: ${file.rows} rows`);
  }
  const [{ taken_at, server_version }] = head.rows as [{ taken_at: string; server_version: string }];
  return {
    format: FORMAT,
    taken_at,
    server_version,
    migrations: migrations.rows.map(({ name }) => name),
    tables,
    sequences: await sequencesOf(client),
  };
}

async function* pagesOf(client: PoolClient, table: string): AsyncGenerator<string[]> {
  await client.query(`declare backup_rows no scroll cursor for select t::text as row from ${table} t`);
  for (;;) {
    const { rows } = await client.query<{ row: string }>(`fetch ${PAGE} from backup_rows`);
    if (rows.length === 0) break;
    yield rows.map(({ row }) => row);
  }
  await client.query('close backup_rows');
}

const REFERENCES = `
  select conrelid::regclass::text as child, confrelid::regclass::text as parent
  from pg_constraint where contype = 'f' and conrelid <> confrelid`;

/** Those that others refer to first. */
async function tablesInOrder(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(REFERENCES);
  const waiting = new Set(Object.keys(GRANTS).filter((table) => !table.startsWith(BOOKKEEPING)));
  const ordered: string[] = [];
  while (waiting.size > 0) {
    const free = [...waiting].filter(
      (table) => !rows.some(({ child, parent }) => child === table && waiting.has(parent)),
    );
    if (free.length === 0) throw new Error('tables refer to each other in a circle');
    for (const table of free) waiting.delete(table);
    ordered.push(...free);
  }
  return ordered;
}

async function sequencesOf(client: PoolClient): Promise<Manifest['sequences']> {
  const schemas = [...new Set(Object.keys(GRANTS).map((table) => table.split('.')[0] ?? ''))];
  const { rows } = await client.query<{ name: string; last_value: string }>(
    `select schemaname || '.' || sequencename as name, last_value::text from pg_sequences
     where schemaname = any ($1) and schemaname <> 'meta' and last_value is not null order by 1`,
    [schemas],
  );
  return rows;
}
