import type { Pool } from 'pg';
import type { EventPlace } from '../rules/order.js';
import type { CountedTrade } from '../rules/trades.js';
import type { WindowPart } from '../rules/window-parts.js';
import { ofInstrument } from './instruments.js';

/** As the venue sent it: in a single-book market, the price is that of the traded outcome. */
export interface StoredTrade extends EventPlace, CountedTrade {
  readonly side: string | null;
  readonly maker: string | null;
  readonly taker: string | null;
  readonly tx_hash: string | null;
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

const NEWEST = 'order by ts desc, seq desc, source_id desc';

/** Reads the newest trades of each outcome, and of these the newest. */
export const TRADE_PAGE = `
  select instrument, ts, seq::text, source_id, price, size::text, side, maker, taker, tx_hash
  from unnest($1::bigint[]) as outcome (number)
  cross join lateral (
    select * from data.trades trade
    where trade.instrument = outcome.number and ts >= $2 and ts < $3 and not is_busted
      and ts <= $4 and (ts, seq, source_id) < ($4, $5::bigint, $6::text collate "C")
    ${NEWEST} limit $7
  ) as newest
  order by ts desc, newest.seq desc, source_id desc limit $7`;

/** One index lookup for each outcome. */
export const OLDEST_TRADE = `
  select oldest.ts from unnest($1::bigint[]) as outcome (instrument)
  cross join lateral (
    select ts from data.trades trade where trade.instrument = outcome.instrument and not is_busted
    order by ts, seq, source_id limit 1
  ) as oldest
  order by 1 limit 1`;

/** The position after every trade. */
const LAST_PLACE: EventPlace = { source_ts: Number.MAX_SAFE_INTEGER, seq: 0n, source_id: '' };

/** Reads trades that are not busted. */
export class TradeReader {
  constructor(private readonly pool: Pool) {}

  /** Newest first: the trades before a position in the order of trades. */
  async page(
    instruments: readonly number[],
    { start, end }: WindowPart,
    limit: number,
    place: EventPlace = LAST_PLACE,
  ): Promise<StoredTrade[]> {
    const { rows } = await this.pool.query<TradeRow>({
      name: 'data-trade-page',
      text: TRADE_PAGE,
      values: [instruments, start, end, place.source_ts, place.seq, place.source_id, limit],
    });
    return rows.map(({ instrument, ts, seq, size, ...row }) => ({
      ...row,
      ...{ source_ts: ts, seq: BigInt(seq), size: BigInt(size) },
      outcome_index: ofInstrument(instrument).outcomeIndex,
    }));
  }

  /** The time of the oldest trade of these instruments. */
  async oldest(instruments: readonly number[]): Promise<number | undefined> {
    const { rows } = await this.pool.query<{ ts: number }>({
      name: 'data-oldest-trade',
      text: OLDEST_TRADE,
      values: [instruments],
    });
    return rows[0]?.ts;
  }
}
