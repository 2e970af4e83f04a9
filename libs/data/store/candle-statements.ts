export const MICROS = 1_000_000;

/** The start of the bucket, also for times before 1970. */
function bucket(column: string, seconds: number): string {
  return floorOf(column, String(seconds * MICROS));
}

/** The latest multiple of `span` microseconds that is not after the column, also for times before 1970. */
export function floorOf(column: string, span: string): string {
  return `${column} - mod(mod(${column}, ${span}) + ${span}, ${span})`;
}

/** The same order everywhere, so that PostgreSQL sorts once. */
const PLACED = 'order by ts, seq, source_id';
const first = (column: string): string => `(array_agg(${column} ${PLACED}))[1]`;
const last = (column: string): string => `(array_agg(${column} ${PLACED}))[count(*)]`;

/**
 * One-minute candles of some trades. In a single-book market, a trade of outcome 1 counts for outcome 0 at one minus its price,
 * with the cash that it really cost.
 */
export function minutesOf(trades: string, isSingleBook: string): string {
  return `
    select instrument, bucket,
      ${first('price')} as open, max(price) as high, min(price) as low, ${last('price')} as close,
      sum(size) as volume, sum(cash) as cash, count(*) as trades,
      ${first('ts')} as open_ts, ${first('seq')} as open_seq, ${first('source_id')} as open_id,
      ${last('ts')} as close_ts, ${last('seq')} as close_seq, ${last('source_id')} as close_id
    from (
      select instrument - case when is_mirrored then 1 else 0 end as instrument, ${bucket('ts', 60)} as bucket, ts, seq, source_id,
        case when is_mirrored then 1000000 - price else price end as price, size,
        div(2 * price::numeric * size + 1000000, 2000000) as cash
      from (select *, ${isSingleBook} and instrument % 64 = 1 as is_mirrored from ${trades}) as trade
    ) as series
    group by instrument, bucket`;
}

const earliest = (column: string): string => `(array_agg(${column} order by bucket))[1]`;
const latest = (column: string): string => `(array_agg(${column} order by bucket))[count(*)]`;

/** Coarser candles from one finer timeframe. No two candles of an instrument share a bucket, so the bucket alone orders them. */
export function rolledUp(candles: string, seconds: number): string {
  return `
    select instrument, coarse as bucket,
      ${earliest('open')} as open, max(high) as high, min(low) as low, ${latest('close')} as close,
      sum(volume) as volume, sum(cash) as cash, sum(trades)::bigint as trades,
      ${earliest('open_ts')} as open_ts, ${earliest('open_seq')} as open_seq, ${earliest('open_id')} as open_id,
      ${latest('close_ts')} as close_ts, ${latest('close_seq')} as close_seq, ${latest('close_id')} as close_id
    from (select *, ${bucket('bucket', seconds)} as coarse from ${candles}) as finest
    group by instrument, coarse`;
}

const COLUMNS = `instrument, timeframe, bucket, open, high, low, close, volume, cash, trades,
      open_ts, open_seq, open_id, close_ts, close_seq, close_id`;

/** Merges candles into stored candles of the same bucket. Both must have no trade in common. */
export function candleUpsert(schema: string, candles: string): string {
  const opens =
    '(excluded.open_ts, excluded.open_seq, excluded.open_id) < (known.open_ts, known.open_seq, known.open_id)';
  const closes =
    '(excluded.close_ts, excluded.close_seq, excluded.close_id) > (known.close_ts, known.close_seq, known.close_id)';
  const opened = (column: string): string =>
    `${column} = case when ${opens} then excluded.${column} else known.${column} end`;
  const closed = (column: string): string =>
    `${column} = case when ${closes} then excluded.${column} else known.${column} end`;
  return `
  insert into ${schema}.candles as known (${COLUMNS})
  select ${COLUMNS} from ${candles} order by instrument, timeframe, bucket
  on conflict (instrument, timeframe, bucket) do update set
    ${['open', 'open_ts', 'open_seq', 'open_id'].map(opened).join(', ')},
    ${['close', 'close_ts', 'close_seq', 'close_id'].map(closed).join(', ')},
    high = greatest(known.high, excluded.high), low = least(known.low, excluded.low),
    volume = known.volume + excluded.volume, cash = known.cash + excluded.cash, trades = known.trades + excluded.trades`;
}
