import type { Pool } from 'pg';
import { type Bar, type CandleWindow, MADE_FROM, mirroredCandle, type Timeframe } from '../rules/candles.js';
import { seriesOf } from '../rules/outcomes.js';
import { PROVIDER_FACTS, type Provider } from '../rules/providers.js';
import { MICROS_PER_SECOND } from '../rules/times.js';
import { floorOf } from './candle-statements.js';
import { instrumentOf } from './instruments.js';

/** The candles of one outcome in one timeframe. */
export interface CandleSeries {
  readonly provider: Provider;
  readonly marketNo: number;
  readonly outcomeIndex: number;
  readonly timeframe: Timeframe;
}

/** Candles computed from the trades, and which stored candles differ from them. */
export interface RecomputedBars {
  readonly bars: readonly Bar[];
  /** Starts of the buckets that differ. */
  readonly apart: readonly number[];
}

interface BarRow extends Omit<Bar, 'volume'> {
  readonly volume: string;
}

interface ComparedRow {
  readonly bucket: number;
  readonly made: boolean;
  readonly is_apart: boolean;
}

const STORED = `
  select bucket, open, high, low, close, volume from data.candles
  where instrument = $1 and timeframe = $4 and bucket >= $2 and bucket < $3`;

/** Stored candles of a series do not overlap, so the first one holds the first trade. */
const JOINED = `
  select ${floorOf('bucket', '$5::bigint')} as bucket, (array_agg(open order by bucket))[1] as open, max(high) as high,
    min(low) as low, (array_agg(close order by bucket))[count(*)] as close, sum(volume) as volume
  from data.candles
  where instrument = $1 and timeframe = $4 and bucket >= $2 and bucket < $3
  group by 1`;

const PLACED = 'order by ts, seq, source_id';

/** In a single-book market, the trades of both outcomes form one series. */
function tradedBars(span: string, hasBoth: string): string {
  return `
  select ${floorOf('ts', span)} as bucket, (array_agg(price ${PLACED}))[1] as open, max(price) as high, min(price) as low,
    (array_agg(price ${PLACED}))[count(*)] as close, sum(size) as volume
  from (
    select ts, seq, source_id, price, size from data.trades
    where instrument = $1 and ts >= $2 and ts < $3 and not is_busted
    union all
    select ts, seq, source_id, 1000000 - price, size from data.trades
    where ${hasBoth} and instrument = $1 + 1 and ts >= $2 and ts < $3 and not is_busted
  ) as trade
  group by 1`;
}

function shown(bars: string): string {
  return `select bucket, open, high, low, close, volume::text from (${bars}) as bar order by bucket`;
}

function compared(stored: string): string {
  return `
  select coalesce(made.bucket, kept.bucket) as bucket, made.bucket is not null as made, made.open, made.high, made.low, made.close,
    made.volume::text, (made is distinct from kept) as is_apart
  from (${tradedBars('$5::bigint', '$6::boolean')}) as made full join (${stored}) as kept on kept.bucket = made.bucket
  order by 1`;
}

export const STORED_BARS = shown(STORED);
export const JOINED_BARS = shown(JOINED);
export const TRADED_BARS = shown(tradedBars('$4::bigint', '$5::boolean'));
export const STORED_COMPARED = compared(STORED);
export const JOINED_COMPARED = compared(JOINED);

/** Reads candles. The caller must clamp windows, and limit them to what it can hold in memory. */
export class CandleReader {
  constructor(private readonly pool: Pool) {}

  async read(series: CandleSeries, window: CandleWindow): Promise<Bar[]> {
    const { instrument, isMirrored } = placeOf(series);
    const { timeframe } = series;
    if (timeframe === 1) return this.fromTrades(series, window);
    const from = MADE_FROM[timeframe];
    const values = [instrument, window.start, window.end, from];
    const { rows } = await this.pool.query<BarRow>(
      from === timeframe
        ? { name: 'data-bars', text: STORED_BARS, values }
        : {
            name: 'data-joined-bars',
            text: JOINED_BARS,
            values: [...values, timeframe * MICROS_PER_SECOND],
          },
    );
    return barsOf(rows, isMirrored);
  }

  /** Reads stored candles and trades in one query, so that both are of the same moment. */
  async recompute(series: CandleSeries, window: CandleWindow): Promise<RecomputedBars> {
    const { timeframe } = series;
    const { instrument, isMirrored, hasBoth } = placeOf(series);
    if (timeframe === 1) return { bars: await this.fromTrades(series, window), apart: [] };
    const from = MADE_FROM[timeframe];
    const { rows } = await this.pool.query<BarRow & ComparedRow>({
      ...(from === timeframe
        ? { name: 'data-compared-bars', text: STORED_COMPARED }
        : { name: 'data-compared-joined-bars', text: JOINED_COMPARED }),
      values: [...[instrument, window.start, window.end, from, timeframe * MICROS_PER_SECOND], hasBoth],
    });
    return {
      bars: barsOf(
        rows.filter(({ made }) => made),
        isMirrored,
      ),
      apart: rows.filter(({ is_apart }) => is_apart).map(({ bucket }) => bucket),
    };
  }

  private async fromTrades(series: CandleSeries, { start, end }: CandleWindow): Promise<Bar[]> {
    const { instrument, isMirrored, hasBoth } = placeOf(series);
    const { rows } = await this.pool.query<BarRow>({
      name: 'data-traded-bars',
      text: TRADED_BARS,
      values: [instrument, start, end, series.timeframe * MICROS_PER_SECOND, hasBoth],
    });
    return barsOf(rows, isMirrored);
  }
}

/** Where the candles and trades of a series are stored. */
export interface SeriesPlace {
  readonly instrument: number;
  readonly isMirrored: boolean;
  /** Trades of the next outcome belong to the series too. */
  readonly hasBoth: boolean;
}

export function placeOf({ provider, marketNo, outcomeIndex }: Omit<CandleSeries, 'timeframe'>): SeriesPlace {
  const { outcome_index, isMirrored } = seriesOf(provider, outcomeIndex);
  return {
    instrument: instrumentOf(marketNo, outcome_index),
    isMirrored,
    hasBoth: PROVIDER_FACTS[provider].isSingleBook && outcome_index === 0,
  };
}

function barsOf(rows: readonly BarRow[], isMirrored: boolean): Bar[] {
  return rows.map(({ bucket, open, high, low, close, volume }) => {
    const bar = { bucket, open, high, low, close, volume: BigInt(volume) };
    return isMirrored ? mirroredCandle(bar) : bar;
  });
}
