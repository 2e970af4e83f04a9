import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { openPool } from '#libs/platform/database/postgres.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { dataMigrations } from '../migrations/list.js';
import { partsOf, windowUpTo } from '../rules/window-parts.js';
import { FIND_MARKETS, MARKETS_OF_EVENT } from './market-reader.js';
import { SNAPSHOT_PAGE, SNAPSHOT_REACH } from './snapshot-reader.js';
import { DAY_VOLUMES, TRADE_VOLUMES, WINDOW_VOLUMES } from './volume-reader.js';

jest.setTimeout(120_000);

const MARKETS = 20_000;
const START = Date.UTC(2026, 7, 1) * 1_000;
const DAY = 86_400_000_000;

let database: TestDatabase;

/** Markets in events of ten, their snapshots, and three months of trades of a hundred instruments. */
beforeAll(async () => {
  database = await createTestDatabase(dataMigrations);
  const { pool } = database;
  const moments = Array.from({ length: 90 }, (_, day) => START + day * DAY);
  await pool.query('select data.make_months($1, $2)', ['data', moments]);
  await pool.query(`
    insert into data.markets (market_no, provider, market_id, status, event_id, state)
    select 1000000000 + n, 0, 'm' || n, 'active', 'e' || n / 10, jsonb_build_object('n', n) from generate_series(1, ${MARKETS}) n;
    insert into data.market_ids (provider, id, kind, market_no)
    select 0, kind || n, kind, 1000000000 + n
    from generate_series(1, ${MARKETS}) n, unnest(array['market', 'condition', 'token', 'ticker']) kind;
    insert into data.snapshots (provider, made_at) select 0, n from generate_series(1, 20) n;
    insert into data.snapshot_markets (provider, market_id, from_snapshot, market_no, state)
    select 0, market_id, 1, market_no, state from data.markets;
    insert into data.trades (instrument, ts, seq, source_id, price, size)
    select (1000000001 + n % 100)::bigint * 64, ${START} + n::bigint * 77000000, n, 't' || n, 500000, 1000000 from generate_series(1, 100000) n;`);
  for (const seconds of [60, 3_600, 86_400]) {
    await pool.query(
      `insert into data.candles
       select instrument, ${seconds}, ts - ts % ${seconds * 1_000_000}, 1, 1, 1, 1, 1, 1, 1, min(ts), 1, 'a', max(ts), 1, 'b'
       from data.trades group by 1, 2, 3`,
    );
  }
  await pool.query('analyze');
});
afterAll(() => database.drop());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `array[${value.map(literalOf).join(', ')}]`;
  return typeof value === 'number' ? String(value) : `'${String(value)}'`;
}

/** The plan that serves every parameter, in a session like that of the gateway. */
async function planOf(text: string, values: readonly unknown[]): Promise<PlanNode[]> {
  const pool = openPool(database.url, { applicationName: 'plans', max: 1, looksUp: true });
  try {
    await pool.query(`prepare asked as ${text}`);
    const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze true, format json) execute asked (${values.map(literalOf).join(', ')})`,
    );
    return nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    await pool.end();
  }
}

const SOME = [1, 2, 3].map((n) => (1_000_000_000 + n) * 64);
const { hours, minutes, rest } = partsOf(windowUpTo(START + 40 * DAY + 5_000_000, 86_400));
const SPANS = [hours, ...minutes, ...rest].flatMap(({ start, end }) => [start, end]);

/** The reads, and how many rows each may touch. */
const READS = {
  'markets by id': [
    FIND_MARKETS,
    [0, ['market7', 'token9', 'nothing'], ['market', 'condition', 'token']],
    10,
  ],
  'markets of an event': [MARKETS_OF_EVENT, [0, 'e7'], 20],
  'the newest snapshot and that of a place': [SNAPSHOT_REACH, [0, 7, 1_000_000_100], 10],
  'a page of a snapshot': [SNAPSHOT_PAGE, [0, 'm5', 7, 100], 500],
  'volumes of a window': [WINDOW_VOLUMES, [SOME, ...SPANS], 400],
  'volumes since listing': [DAY_VOLUMES, [SOME], 2_000],
  'volumes of all trades of some instruments': [TRADE_VOLUMES, [SOME], 8_000],
} satisfies Record<string, [string, unknown[], number]>;

describe('every read of markets finds its rows by an index', () => {
  it.each(Object.entries(READS))('%s', async (_what, [text, values, most]) => {
    const nodes = await planOf(text, values);
    const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
    expect(scans.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    const touched = scans.map(
      (node) =>
        ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 0),
    );
    expect(touched.reduce((sum, rows) => sum + rows, 0)).toBeLessThanOrEqual(most);
  });
});
