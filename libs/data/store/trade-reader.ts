import type { Pool } from 'pg';
import type { EventPlace } from '../rules/order.js';
import type { CountedTrade, TradeSums } from '../rules/trades.js';
import { ofInstrument } from './instruments.js';

/** As it came: where a market has one book, its price is that of the outcome that was traded. */
export interface StoredTrade extends EventPlace, CountedTrade {
  readonly side: string | null;
  readonly maker: string | null;
  readonly taker: string | null;
  readonly tx_hash: string | null;
}

/** After `after`, and before `before`, in microseconds. */
export interface TradeWindow {
  readonly after: number;
  readonly before: number;
}

interface TradeRow {
  readonly instrument: number;
  readonly ts: number;
  readonly seq: string;
  readonly source_id: string;
  readonly price: number;
  readonly size: string;
  readonly side: string | null;
  readonly maker: string | null;
  readonly taker: string | null;
  readonly tx_hash: string | null;
}

interface CashRow {
  readonly instrument: number;
  readonly trades: number;
  readonly cash: string;
}

const NEWEST = 'order by ts desc, seq desc, source_id desc';

/** Of each outcome its newest, of these the newest. */
export const TRADE_PAGE = `
  select instrument, ts, seq::text, source_id, price, size::text, side, maker, taker, tx_hash
  from unnest($1::bigint[]) as outcome (number)
  cross join lateral (
    select * from data.trades trade
    where trade.instrument = outcome.number and ts > $2 and ts < $3 and not is_busted
      and ts <= $4 and (ts, seq, source_id) < ($4, $5::bigint, $6::text collate "C")
    ${NEWEST} limit $7
  ) as newest
  order by ts desc, newest.seq desc, source_id desc limit $7`;

export const TRADE_SUMS = `
  select instrument, count(*) as trades, sum(div(2 * price::numeric * size + 1000000, 2000000))::text as cash
  from data.trades where instrument = any ($1::bigint[]) and ts > $2 and ts < $3 and not is_busted
  group by instrument`;

/** One step into the index for each outcome. */
export const OLDEST_TRADE = `
  select oldest.ts from unnest($1::bigint[]) as outcome (instrument)
  cross join lateral (
    select ts from data.trades trade where trade.instrument = outcome.instrument and not is_busted
    order by ts, seq, source_id limit 1
  ) as oldest
  order by 1 limit 1`;

/** Nothing comes after it. */
const LAST_PLACE: EventPlace = { source_ts: Number.MAX_SAFE_INTEGER, seq: 0n, source_id: '' };

/** Trades that are not busted. */
export class TradeReader {
  constructor(private readonly pool: Pool) {}

  /** The newest first, those that come before a place in the order of trades. */
  async page(
    instruments: readonly number[],
    { after, before }: TradeWindow,
    limit: number,
    place: EventPlace = LAST_PLACE,
  ): Promise<StoredTrade[]> {
    const { rows } = await this.pool.query<TradeRow>({
      name: 'data-trade-page',
      text: TRADE_PAGE,
      values: [instruments, after, before, place.source_ts, place.seq, place.source_id, limit],
    });
    return rows.map(({ instrument, ts, seq, size, ...row }) => ({
      ...row,
      ...{ source_ts: ts, seq: BigInt(seq), size: BigInt(size) },
      outcome_index: ofInstrument(instrument).outcomeIndex,
    }));
  }

  async sums(instruments: readonly number[], { after, before }: TradeWindow): Promise<TradeSums> {
    const { rows } = await this.pool.query<CashRow>({
      name: 'data-trade-sums',
      text: TRADE_SUMS,
      values: [instruments, after, before],
    });
    const cash = new Map(rows.map((row) => [ofInstrument(row.instrument).outcomeIndex, BigInt(row.cash)]));
    return {
      trades: rows.reduce((sum, { trades }) => sum + trades, 0),
      cash: [...cash.values()].reduce((sum, each) => sum + each, 0n),
      cash0: cash.get(0) ?? 0n,
      cash1: cash.get(1) ?? 0n,
    };
  }

  /** Of these outcomes. */
  async oldest(instruments: readonly number[]): Promise<number | undefined> {
    const { rows } = await this.pool.query<{ ts: number }>({
      name: 'data-oldest-trade',
      text: OLDEST_TRADE,
      values: [instruments],
    });
    return rows[0]?.ts;
  }
}
