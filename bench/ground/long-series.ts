import type { Pool } from 'pg';
import { candleUpsert, minutesOf, rolledUp } from '#libs/data/store/candle-statements.js';

const DAY = 86_400_000_000;
/** Short enough to hit every month. */
const FEW_DAYS = 20;

export interface SeriesOfTrades {
  readonly instruments: readonly number[];
  readonly trades: number;
  readonly from: number;
  readonly days: number;
}

/** Inserts trades, spread over days and outcomes, where ingest would put them. */
export async function fillTrades(
  pool: Pool,
  { instruments, trades, from, days }: SeriesOfTrades,
): Promise<void> {
  const moments = Array.from({ length: Math.ceil(days / FEW_DAYS) + 1 }, (_, step) =>
    Math.min(from + step * FEW_DAYS * DAY, from + days * DAY),
  );
  await pool.query(`select data.make_months('data', $1)`, [moments]);
  await pool.query(
    `insert into data.trades (instrument, ts, seq, source_id, price, size, side)
     select ($1::bigint[])[1 + mod(number * 7919, $2)], $3::bigint + floor(number * $4::numeric)::bigint, number, 't' || number,
       10000 * (1 + mod(number * 31, 98)), 1000000 * (1 + mod(number * 17, 200)), 'buy'
     from generate_series(1, $5::bigint) as number`,
    [instruments, instruments.length, from, (days * DAY) / trades, trades],
  );
}

/** Makes the candles that ingest would make from all trades in the table. */
export async function fillCandles(pool: Pool): Promise<void> {
  await pool.query(`
    with minutes as (${minutesOf('data.trades where not is_busted', 'false')}),
    hours as (${rolledUp('minutes', 3_600)}),
    days as (${rolledUp('hours', 86_400)}),
    candle as (
      select 60 as timeframe, * from minutes union all select 3600, * from hours union all select 86400, * from days
    )
    ${candleUpsert('data', 'candle')}`);
  await pool.query('analyze data.trades, data.candles');
}
