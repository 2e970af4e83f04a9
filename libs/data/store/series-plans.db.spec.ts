import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { dataMigrations } from '../migrations/list.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { JOINED_BARS, JOINED_COMPARED, STORED_BARS, STORED_COMPARED, TRADED_BARS } from './candle-reader.js';
import { HISTORY, NAMED, VERSIONED_HISTORY } from './coverage-reader.js';
import { OLDEST_TRADE, TRADE_PAGE } from './trade-reader.js';

jest.setTimeout(120_000);

const MONTHS = 3;
const START = Date.UTC(2026, 7, 1) * 1_000;
const DAY = 86_400_000_000;
/** A hundred instruments. */
const ONE = 64_000_000_064;

let database: TestDatabase;

/** 100,000 trades of a hundred instruments over three months, with their candles. */
beforeAll(async () => {
  database = await createTestDatabase(dataMigrations);
  const { pool } = database;
  const at = `${START} + n::bigint * ${Math.floor((MONTHS * 30 * DAY) / 100_000)}`;
  const moments = Array.from({ length: MONTHS * 30 }, (_, day) => START + day * DAY);
  await pool.query('select data.make_months($1, $2)', ['data', moments]);
  await pool.query(
    `insert into data.trades (instrument, ts, seq, source_id, price, size)
     select ${ONE - 64} + (n % 100) * 64, ${at}, n, 't' || n, 500000, 1000000 from generate_series(1, 100000) n`,
  );
  for (const seconds of [60, 3_600, 86_400]) {
    await pool.query(
      `insert into data.candles
       select instrument, ${seconds}, ts - ts % ${seconds * 1_000_000}, 1, 1, 1, 1, 1, 1, 1, min(ts), 1, 'a', max(ts), 1, 'b'
       from data.trades group by 1, 2, 3`,
    );
  }
  await pool.query(
    `insert into data.sequences select 1000000000 + n, m * 10, m * 10 + 5, ${START} + m * ${DAY}, ${START} + m * ${DAY} + 5
     from generate_series(1, 1000) n, generate_series(1, 10) m`,
  );
  await pool.query(
    `insert into data.markets (market_no, provider, market_id, status, state)
     select 1000000000 + n, 0, 'm' || n, 'active', '{}' from generate_series(1, 1000) n`,
  );
  await pool.query(
    `insert into data.market_ids select 0, kind || n, kind, 1000000000 + n
     from generate_series(1, 1000) n, unnest(array['market', 'condition', 'token']) kind`,
  );
  await pool.query('analyze');
});
afterAll(() => database.drop());

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly 'Actual Rows'?: number;
  readonly Plans?: readonly PlanNode[];
}

function nodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodes)];
}

/** The plan that serves every parameter, as a prepared statement uses it. */
async function planOf(text: string, values: readonly (string | number)[]): Promise<PlanNode[]> {
  const client = await database.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare asked as ${text}`);
    const literals = values.map((value) => (typeof value === 'number' ? String(value) : `'${value}'`));
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze true, format json) execute asked (${literals.join(', ')})`,
    );
    return nodes(rows[0]!['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('deallocate all; reset plan_cache_mode');
    client.release();
  }
}

const WINDOW = [START + 40 * DAY, START + 45 * DAY] as const;

const READS = {
  'stored bars': [STORED_BARS, [ONE, ...WINDOW, 3_600]],
  'bars that are joined from finer ones': [JOINED_BARS, [ONE, ...WINDOW, 60, 300_000_000]],
  'bars of trades': [TRADED_BARS, [ONE, ...WINDOW, 1_000_000, 'true']],
  'bars of trades compared with stored ones': [STORED_COMPARED, [ONE, ...WINDOW, 60, 60_000_000, 'true']],
  'bars of trades compared with joined ones': [JOINED_COMPARED, [ONE, ...WINDOW, 60, 300_000_000, 'true']],
  'a page of trades': [TRADE_PAGE, [`{${ONE},${ONE + 1}}`, ...WINDOW, WINDOW[1], 0, '', 101]],
  'the oldest trade': [OLDEST_TRADE, [`{${ONE},${ONE + 1}}`]],
  'whether anything has changed': [
    VERSIONED_HISTORY,
    [0, `{${ONE},${ONE + 1}}`, 1_000_000_001, ...WINDOW, ONE, WINDOW[0], 'market1', 'false'],
  ],
  'what an id stands for': [NAMED, [0, 'market1']],
  'how much there is of a history': [HISTORY, [0, `{${ONE},${ONE + 1}}`, 1_000_000_001, ...WINDOW]],
} as const;

describe('with a hundred thousand trades', () => {
  it.each(Object.entries(READS))('%s: no table is read from end to end', async (_title, [text, values]) => {
    const ran = (await planOf(text, values)).filter((node) => node['Actual Loops'] !== 0);
    const scans = ran
      .filter(({ 'Node Type': type }) => type === 'Seq Scan')
      .map((node) => node['Relation Name']);
    // One table has one row per provider, and the other has a single row.
    expect(scans.filter((name) => name !== 'freshness' && name !== 'dropped')).toEqual([]);
  });

  it.each(['stored bars', 'bars of trades', 'a page of trades'] as const)(
    '%s: only the months of the window are read',
    async (title) => {
      const [text, values] = READS[title];
      const looked = (await planOf(text, values)).filter(
        (node) => node['Actual Loops'] !== 0 && node['Relation Name'] !== undefined,
      );
      expect(new Set(looked.map((node) => node['Relation Name']?.slice(-7)))).toEqual(new Set(['2026_09']));
    },
  );

  it('a page of trades reads no more rows of an outcome than the page has', async () => {
    const [text] = READS['a page of trades'];
    const values = [`{${ONE}}`, START, START + 90 * DAY, START + 90 * DAY, 0, '', 10];
    const scans = (await planOf(text, values)).filter((node) => node['Relation Name'] !== undefined);
    expect(Math.max(...scans.map((node) => node['Actual Rows'] ?? 0))).toBeLessThanOrEqual(10);
  });
});
