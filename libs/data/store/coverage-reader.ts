import type { Pool } from 'pg';
import { historyFrom } from '../rules/coverage.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';
import { ceilTo, floorTo, MICROS_PER_SECOND } from '../rules/times.js';
import type { TradeGap } from '../rules/trades.js';
import { instrumentOf } from './instruments.js';
import { isStorable } from './market-reader.js';
import type { StoredMarket } from './market-table.js';

/** How complete a market's trades are. */
export interface TradeHistory {
  /** The time from which they are complete; null if unknown. */
  readonly from: number | null;
  /** The time of the market's oldest trade. */
  readonly oldest: number | undefined;
  /** The gaps that the window touches. */
  readonly gaps: readonly TradeGap[];
}

interface HistoryRow {
  readonly oldest: number | null;
  readonly reaches_listing: boolean | null;
  readonly reaches_from: number | null;
  readonly dropped_before: number | null;
  readonly gaps: readonly (readonly [from: number, to: number])[] | null;
}

/** A series, with the id by which the caller asked for it. */
export interface NamedSeries {
  readonly contract_id: string;
  /** The instrument that has the candles. */
  readonly instrument: number;
}

/** The version changes with anything that the candles of the window are made from, and with the market that the id names. */
export interface VersionedHistory extends Omit<TradeHistory, 'oldest'> {
  readonly version: string;
  /** The part of the version that concerns the id and its market. */
  readonly named: string | null;
}

interface NamedRow {
  readonly named: string | null;
}

interface VersionedRow extends HistoryRow, NamedRow {
  readonly days: string | null;
}

const DAY = 86_400 * MICROS_PER_SECOND;
const HOUR = 3_600 * MICROS_PER_SECOND;

/** One index lookup for each outcome. */
const OLDEST = `
    (select min(oldest.ts) from unnest($2::bigint[]) as outcome (instrument)
     cross join lateral (
       select ts from data.trades trade where trade.instrument = outcome.instrument and not is_busted
       order by ts, seq, source_id limit 1
     ) as oldest)`;

/** A gap lies between two spans of sequence numbers. */
function historyWith(oldest: string): string {
  return `
  select ${oldest} as oldest,
    (select reaches_listing from data.freshness where provider = $1) as reaches_listing,
    (select reaches_from from data.freshness where provider = $1) as reaches_from,
    (select before_ts from data.dropped) as dropped_before,
    (select json_agg(json_build_array(least(last_ts, next_ts), greatest(last_ts, next_ts)))
     from (
       select last_ts, lead(first_ts) over (order by first_seq) as next_ts from data.sequences where market_no = $3
     ) as span
     where next_ts is not null and least(last_ts, next_ts) <= $5 and greatest(last_ts, next_ts) >= $4) as gaps`;
}

export const HISTORY = historyWith(OLDEST);

/** The market that an id names, and the transaction that wrote its state. */
function namedMarket(provider: string, id: string): string {
  return `
    (select concat_ws(' ', market.market_no, named.kind, named.outcome_index, market.xmin)
     from data.market_ids named join data.markets market on market.market_no = named.market_no
     where named.provider = ${provider} and named.id = ${id} and named.kind in ('market', 'condition', 'token')
     order by array_position(array['market', 'condition', 'token'], named.kind), market.market_id, named.outcome_index
     limit 1) as named`;
}

export const NAMED = `select ${namedMarket('$1', '$2')}`;

/** Only needed if neither the listing nor the source tells from when the market is complete. */
const OLDEST_IF_NEEDED = `
    case when $9::boolean and exists (
      select from data.freshness where provider = $1 and (reaches_listing or reaches_from is not null)
    ) then null else ${OLDEST} end`;

/**
 * Every trade, late trade or bust rewrites the candle of its day in the transaction that writes the finer candles. So the
 * transactions that wrote the days of a window tell whether anything in it has changed.
 */
export const VERSIONED_HISTORY = `${historyWith(OLDEST_IF_NEEDED)},
    (select string_agg(xmin::text, ' ' order by bucket) from data.candles
     where instrument = $6 and timeframe = 86400 and bucket >= $7 and bucket < $5) as days,
    ${namedMarket('$1', '$8')}`;

/** Reads how complete a market's trades are. */
export class CoverageReader {
  constructor(
    private readonly pool: Pool,
    /** Older trades may have been dropped. Undefined if none are. */
    private readonly retentionDays?: number,
  ) {}

  async of(market: StoredMarket, window: CoveredSpan, now: number): Promise<TradeHistory> {
    const { rows } = await this.pool.query<HistoryRow>({
      name: 'data-history',
      text: HISTORY,
      values: valuesOf(market, window),
    });
    return this.historyOf(market, rows[0], now);
  }

  /** The same, with a version by which the caller can tell whether earlier reads still hold. */
  async versioned(
    market: StoredMarket,
    window: CoveredSpan,
    now: number,
    { contract_id, instrument }: NamedSeries,
  ): Promise<VersionedHistory> {
    const { rows } = await this.pool.query<VersionedRow>({
      name: 'data-versioned-history',
      text: VERSIONED_HISTORY,
      values: [
        ...valuesOf(market, window),
        ...[
          instrument,
          floorTo(window.start, DAY),
          contract_id,
          market.state.details.listed_at !== undefined,
        ],
      ],
    });
    const { days = null, named = null } = rows[0] ?? {};
    const { from, gaps } = this.historyOf(market, rows[0], now);
    return { from, gaps, named, version: JSON.stringify([named, days]) };
  }

  /** Null if no market has this id. */
  async named(provider: Provider, contractId: string): Promise<string | null> {
    if (!isStorable(contractId)) return null;
    const { rows } = await this.pool.query<NamedRow>({
      name: 'data-named-market',
      text: NAMED,
      values: [PROVIDERS.indexOf(provider), contractId],
    });
    return rows[0]?.named ?? null;
  }

  private historyOf({ state }: StoredMarket, row: HistoryRow | undefined, now: number): TradeHistory {
    const oldest = row?.oldest ?? undefined;
    const from = historyFrom({
      listed_at: state.details.listed_at,
      reaches: row?.reaches_listing === true ? 'listing' : (row?.reaches_from ?? undefined),
      oldest,
      retained_from: this.retainedFrom(now, row?.dropped_before ?? undefined),
    });
    return { from, oldest, gaps: (row?.gaps ?? []).map(([start, to]) => ({ from: start, to })) };
  }

  /**
   * The start of what the setting keeps, on a whole hour so that replies stay the same for a while. Never earlier than what was
   * dropped under an earlier setting.
   */
  private retainedFrom(now: number, droppedBefore: number | undefined): number | undefined {
    const { retentionDays } = this;
    if (retentionDays === undefined) return droppedBefore;
    return Math.max(ceilTo(now - retentionDays * DAY, HOUR), droppedBefore ?? 0);
  }
}

interface CoveredSpan {
  readonly start: number;
  readonly end: number;
}

function valuesOf({ marketNo, state }: StoredMarket, { start, end }: CoveredSpan): unknown[] {
  const instruments = state.outcomes.map((_outcome, index) => instrumentOf(marketNo, index));
  return [PROVIDERS.indexOf(state.provider), instruments, marketNo, start, end];
}
