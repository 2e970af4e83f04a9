import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { applied, IngestWorld, takeAll } from '#libs/testing/data/ingest-world.js';
import { marketEvent, tradeEvent } from '#libs/testing/data/streams.js';
import { CoverageReader } from './coverage-reader.js';
import { FreshnessTable } from './freshness-table.js';
import { MarketReader } from './market-reader.js';
import { dropOldMonths } from './retention.js';

jest.setTimeout(60_000);

let world: IngestWorld;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(() => world.empty());

const at = (day: string): number => Date.parse(`${day}T12:00:00Z`) * 1_000;
const trade = (day: string) =>
  tradeEvent('venue_a', 'm', { source_id: day, source_ts: at(day), price: 400_000 });

async function months(): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent in ('data.trades'::regclass, 'data.candles'::regclass) order by 1`,
  );
  return rows.map(({ name }) => name);
}

it('drops whole months of trades and candles that ended before, and nothing else', async () => {
  const { pool } = world.database;
  const events = [marketEvent('venue_a', 'm'), ...['2026-05-31', '2026-06-01', '2026-06-30'].map(trade)];
  const ingest = await world.ingestAll('venue_a', [events]);
  const made = await months();
  expect(made).toEqual(expect.arrayContaining(['data.candles_2026_05', 'data.trades_2026_05']));
  // The 30th of June is a day too recent, so all of June stays.
  expect(await dropOldMonths(pool, 30, at('2026-07-30'))).toBe(2);
  expect(await months()).toEqual(made.filter((name) => !name.endsWith('2026_05')));
  expect(await dropOldMonths(pool, 30, at('2026-07-30'))).toBe(0);
  const days = async (): Promise<string[]> =>
    (await world.storedTrades()).map((text) => text.split(' ')[4] ?? '');
  expect(await days()).toEqual(['2026-06-01', '2026-06-30']);
  // A late trade of a dropped month does not bring it back.
  await takeAll(ingest, [[trade('2026-05-30')]]);
  await applied(ingest);
  expect(await days()).toEqual(['2026-06-01', '2026-06-30']);
  expect(await dropOldMonths(pool, 30, at('2026-07-30'))).toBe(2);
  expect(await days()).toEqual(['2026-06-01', '2026-06-30']);
  expect(world.faults).toEqual([]);
});

it('waits only briefly for readers, and then drops nothing', async () => {
  const { pool } = world.database;
  await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm'), trade('2026-05-31')]]);
  const reader = await pool.connect();
  try {
    await reader.query('begin');
    await reader.query('select count(*) from data.trades');
    await expect(dropOldMonths(pool, 30, at('2026-07-30'))).rejects.toMatchObject({ code: '55P03' });
    expect(await months()).toContain('data.trades_2026_05');
  } finally {
    await reader.query('rollback');
    reader.release();
  }
  expect(await dropOldMonths(pool, 30, at('2026-07-30'))).toBeGreaterThan(0);
});

it('dropped months do not count as complete after the setting is raised', async () => {
  const { pool } = world.database;
  const market = { ...marketEvent('venue_a', 'm'), listed_at: at('2026-05-01') };
  await world.ingestAll('venue_a', [[market, trade('2026-05-31'), trade('2026-06-30')]]);
  await new FreshnessTable(pool).write('venue_a', {
    ...{ source: 'recorded', state: 'running', isRecorded: true, isQuarantined: false, asOf: null },
    ...{ newestSourceTs: null, journalHead: 0, applied: 0, lagEvents: 0, gaps: 0, conflicts: 0 },
    ...{ quarantined: 0, reachesListing: true, reachesFrom: null },
  });
  const found = (await new MarketReader(pool).find('venue_a', ['m'])).get('m')!;
  const window = { start: at('2026-05-01'), end: at('2026-07-30') };
  const whole = async (): Promise<number | null> =>
    (await new CoverageReader(pool).of(found, window, at('2026-07-30'))).from;
  expect(await whole()).toBe(market.listed_at);
  await dropOldMonths(pool, 30, at('2026-07-30'));
  expect(await whole()).toBe(Date.parse('2026-06-01T00:00:00Z') * 1_000);
});
