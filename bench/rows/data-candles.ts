import { CandleReader } from '#libs/data/store/candle-reader.js';
import { instrumentOf, numbersOf } from '#libs/data/store/instruments.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { alternating } from '../alternating.js';
import { DuckDbCandles } from '../baselines/duckdb-candles.js';
import { BenchDatabase } from '../ground/bench-database.js';
import type { Ground } from '../ground/ground.js';
import { fillCandles, fillTrades } from '../ground/long-series.js';
import { millisOfOne } from '../load/one-caller.js';
import { noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';

const PROVIDER = 'venue_a';
const MARKET_NO = numbersOf(PROVIDER)[0] + 1;
const FROM = Date.UTC(2025, 9, 1) * 1_000;
const HOUR = 3_600_000_000;
const DAYS = 365;
const TRADES = 500_000;
const FEW = 20_000;

/**
 * Stored candles through the product's reader, compared with a column store that computes them from trades.
 */
export const dataCandles: Row = {
  name: 'data-candles',
  title: 'Stored hour candles of a year, compared with DuckDB from 500,000 trades',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const database = await BenchDatabase.start();
    const pool = openPool(database.url, { applicationName: 'bench-candles', max: 2 });
    const instrument = instrumentOf(MARKET_NO, 0);
    const trades = settings.quick ? FEW : TRADES;
    await fillTrades(pool, { instruments: [instrument], trades, from: FROM, days: DAYS });
    await fillCandles(pool);
    const duckDb = await DuckDbCandles.copyOf(pool, instrument);
    const reader = new CandleReader(pool);
    const window = { start: FROM, end: FROM + DAYS * 24 * HOUR };
    const series = { provider: PROVIDER, marketNo: MARKET_NO, outcomeIndex: 0, timeframe: 3_600 } as const;
    const [ours, theirs] = [
      await reader.read(series, window),
      await duckDb.hours(instrument, window.start, window.end),
    ];
    const asRows = ours.map(({ bucket, open, high, low, close, volume }) =>
      [bucket, open, high, low, close, volume].join(' '),
    );
    if (theirs.map((row) => row.join(' ')).join() !== asRows.join()) throw new Error('the candles differ');
    const { medians, runs } = await alternating(
      {
        columns: () =>
          millisOfOne(settings.seconds, () => duckDb.hours(instrument, window.start, window.end)),
        kept: () => millisOfOne(settings.seconds, () => reader.read(series, window)),
      },
      settings,
    );
    duckDb.close();
    await pool.end();
    await database.stop();
    const check = noSlowerThan(
      'hour candles of a year',
      'ms',
      medians.kept,
      { name: 'DuckDB, in memory, from the trades', measured: medians.columns },
      { minimum: 1, goal: 0.5 },
    );
    return { checks: [check], details: { trades, candles: ours.length, runs } };
  },
};
