import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { pause } from '#libs/platform/time/clock.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { mayReadAll } from '#libs/projecting/rebuild/exchange.js';
import { GRANTS } from '#libs/schema/roles/grants.js';
import { fillFolder } from './fresh-folder.js';
import { FORMAT, writeManifest, type Manifest, type TableFile } from './manifest.js';
import { writeRows } from './row-file.js';

export interface BackupPorts {
  readonly pool: Pool;
  readonly tell: (line: string) => void;
}

const PAGE = 2_000;
/** The migrations make these tables, and run again on restore. */
const BOOKKEEPING = 'meta.';
const TABLES = Object.keys(GRANTS).filter((table) => !table.startsWith(BOOKKEEPING));
const clock = new SystemClock();
const RETRY_MILLIS = 500;
const ATTEMPTS = 120;
const LOCK_HELD =
  'a rebuild of the projections is swapping its tables, or another session holds the advisory lock 2980114508';

/**
 * Reads all tables in one transaction, so that ledger, reservations, journals and projections fit together.
 * No writer waits for it. The folder appears once it is complete.
 */
export async function createBackup({ pool, tell }: BackupPorts, folder: string): Promise<Manifest> {
  return await fillFolder(folder, tell, async (own) => {
    const manifest = await withoutTableSwap(pool, tell, () =>
      withTransaction(pool, 'repeatable read, read only', (client) => copyAll(client, own, tell)),
    );
    await writeManifest(own, manifest);
    return manifest;
  });
}

/**
 * Runs while no rebuild swaps tables. A rebuild takes a moment, so a longer lock belongs to another session.
 */
async function withoutTableSwap<T>(
  pool: Pool,
  tell: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const guard = await pool.connect();
  try {
    for (let attempt = 1; !(await mayReadAll(guard)); attempt += 1) {
      if (attempt === 1) tell('waits for a rebuild of the projections to swap its tables');
      if (attempt === ATTEMPTS) throw new StartFault(LOCK_HELD);
      await pause(clock, RETRY_MILLIS);
    }
    return await work();
  } finally {
    guard.release(true);
  }
}

async function copyAll(client: PoolClient, folder: string, tell: (line: string) => void): Promise<Manifest> {
  // Locked before the first read fixes the snapshot: no table is swapped or altered after it.
  await client.query(`lock table ${TABLES.join(', ')} in access share mode`);
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

/** Parents before the tables that refer to them. */
async function tablesInOrder(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(REFERENCES);
  const waiting = new Set(TABLES);
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
