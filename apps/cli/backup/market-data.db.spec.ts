import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DataIngest } from '#libs/data/ingest/data-ingest.js';
import { RecordedSource } from '#libs/data/ingest/recorded/recorded-source.js';
import { RecordedTable } from '#libs/data/store/recorded-table.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { PostgresStore } from '#libs/journal/stores/postgres-store.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { GRANTS } from '#libs/schema/roles/grants.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { createBackup } from './create-backup.js';
import { backupToRestore, restoreBackup } from './restore-backup.js';

jest.setTimeout(120_000);

const clock = new SystemClock();
const SHARDS = [0, 1, 2, 3, 4, 5, 6];
const TABLES = Object.keys(GRANTS).filter((name) => name.startsWith('data.'));
const silent = (): void => undefined;

let folder: string;
let databases: TestDatabase[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-backup-'));
  mkdirSync(path.join(folder, 'recorded'));
  databases = [];
});
afterEach(async () => {
  for (const database of databases) await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function newDatabase(migrations: typeof allMigrations): Promise<TestDatabase> {
  const database = await createTestDatabase(migrations);
  databases.push(database);
  return database;
}

/** Runs until all recorded lines are applied. */
async function ingest({ url, pool }: TestDatabase, lines: number): Promise<string[]> {
  const faults: string[] = [];
  const onFault = (what: string, error: unknown): void => void faults.push(`${what}: ${String(error)}`);
  const store = new PostgresStore({
    ...{ family: 'data', databaseUrl: url, pool, clock, shards: SHARDS, instance: 'ingest-0', tell: silent },
    seals: new RecordMacs('data', [Buffer.alloc(32, 1)]),
  });
  const table = new RecordedTable(pool);
  const source = new RecordedSource(path.join(folder, 'recorded'), { table, clock, onFault });
  await source.start();
  const running = new DataIngest(source.feeds, {
    ...{ pool, clock, onFault, journal: store.journalOf('ingest-0'), reader: store.reader },
  });
  await running.start();
  await eventually(async () => expect(await table.all()).toMatchObject([{ appliedLines: lines }]));
  await running.stop();
  await source.stop();
  await store.close();
  return faults;
}

async function rowsOf({ pool }: TestDatabase): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of TABLES) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${table} t`);
    found[table] = rows.map(({ row }) => row).sort();
  }
  return found;
}

const market = {
  ...{ type: 'MARKET', provider: 'venue_a', source_id: 'm', market_id: 'm', name: 'Rain' },
  ...{ source_ts: '2026-07-01T00:00:00Z', outcomes: [{ label: 'Yes' }, { label: 'No' }] },
};
const trade = (month: string): object => ({
  ...{ type: 'TRADE', provider: 'venue_a', source_id: month, source_ts: `2026-${month}-15T12:00:00Z` },
  ...{ market_id: 'm', outcome_index: 0, price: '0.4', size: '2' },
});
const text = (...lines: object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

it('market data is restored with its months, journals and positions, and ingest continues from there', async () => {
  const file = path.join(folder, 'recorded', 'a.ndjson');
  writeFileSync(file, text(market, trade('07'), trade('08'), trade('10')));
  const first = await newDatabase(allMigrations);
  expect(await ingest(first, 4)).toEqual([]);
  const backup = path.join(folder, 'backup');
  await createBackup({ pool: first.pool, tell: silent }, backup);
  const second = await newDatabase([]);
  await restoreBackup(second.url, await backupToRestore(backup), silent);
  const before = await rowsOf(first);
  expect(await rowsOf(second)).toEqual(before);
  expect(before['data.trades']).toHaveLength(3);
  appendFileSync(file, text(trade('07'), trade('11')));
  expect(await ingest(second, 6)).toEqual([]);
  const { rows } = await second.pool.query(`select source_id from data.trades order by 1`);
  expect(rows.map(({ source_id: id }: { source_id: string }) => id)).toEqual(['07', '08', '10', '11']);
});
