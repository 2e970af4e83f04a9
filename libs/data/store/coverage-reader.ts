import type { Pool } from 'pg';
import { historyFrom } from '../rules/coverage.js';
import { PROVIDERS } from '../rules/providers.js';
import { MICROS_PER_SECOND } from '../rules/times.js';
import type { TradeGap } from '../rules/trades.js';
import { instrumentOf } from './instruments.js';
import type { StoredMarket } from './market-table.js';

/** What is known of a market's trades, and what is missing between them. */
export interface TradeHistory {
  /** From when they are whole; null where that is not known. */
  readonly from: number | null;
  /** Of the market's oldest trade. */
  readonly oldest: number | undefined;
  /** Those that the window touches. */
  readonly gaps: readonly TradeGap[];
}

interface HistoryRow {
  readonly oldest: number | null;
  readonly reaches_listing: boolean | null;
  readonly reaches_from: number | null;
  readonly gaps: readonly (readonly [from: number, to: number])[] | null;
}

const SECONDS_A_DAY = 86_400;

/** The oldest trade of each outcome is one step into the index. Between two spans of numbers is a gap. */
export const HISTORY = `
  select
    (select min(oldest.ts) from unnest($2::bigint[]) as outcome (instrument)
     cross join lateral (
       select ts from data.trades trade where trade.instrument = outcome.instrument and not is_busted
       order by ts, seq, source_id limit 1
     ) as oldest) as oldest,
    (select reaches_listing from data.freshness where provider = $1) as reaches_listing,
    (select reaches_from from data.freshness where provider = $1) as reaches_from,
    (select json_agg(json_build_array(least(last_ts, next_ts), greatest(last_ts, next_ts)))
     from (
       select last_ts, lead(first_ts) over (order by first_seq) as next_ts from data.sequences where market_no = $3
     ) as span
     where next_ts is not null and least(last_ts, next_ts) <= $5 and greatest(last_ts, next_ts) >= $4) as gaps`;

/** How much of a market's trades there is. */
export class CoverageReader {
  constructor(
    private readonly pool: Pool,
    /** What is older may have been dropped; without a number nothing is. */
    private readonly retentionDays?: number,
  ) {}

  async of(
    { marketNo, state }: StoredMarket,
    window: { readonly start: number; readonly end: number },
    now: number,
  ): Promise<TradeHistory> {
    const { rows } = await this.pool.query<HistoryRow>({
      name: 'data-history',
      text: HISTORY,
      values: [
        PROVIDERS.indexOf(state.provider),
        state.outcomes.map((_outcome, index) => instrumentOf(marketNo, index)),
        ...[marketNo, window.start, window.end],
      ],
    });
    const [row] = rows;
    const oldest = row?.oldest ?? undefined;
    const from = historyFrom({
      listed_at: state.details.listed_at,
      reaches: row?.reaches_listing === true ? 'listing' : (row?.reaches_from ?? undefined),
      oldest,
      retained_from: this.retainedFrom(now),
    });
    return { from, oldest, gaps: (row?.gaps ?? []).map(([start, to]) => ({ from: start, to })) };
  }

  private retainedFrom(now: number): number | undefined {
    const { retentionDays } = this;
    return retentionDays === undefined ? undefined : now - retentionDays * SECONDS_A_DAY * MICROS_PER_SECOND;
  }
}
