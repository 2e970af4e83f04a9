import type { BookLevel } from '../../rules/events.js';
import type { FoldedMarket } from '../../rules/markets.js';
import { resolutionOf } from '../../rules/markets.js';
import { contracts, unit } from '../../rules/scales.js';
import { isoTime } from '../../rules/times.js';
import type { FoundMarket } from '../../store/market-reader.js';
import type { OutcomeNow } from '../../store/price-reader.js';

/** The market and outcome of a row. */
export interface InstrumentFields {
  /** As the caller sent it. */
  readonly contract_id: string;
  /** A token id. */
  readonly asset_id: string | null;
  readonly outcome_index: number;
  readonly outcome: string;
}

export interface MarkRow extends InstrumentFields {
  readonly mark: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly last: number | null;
  readonly source: 'payout' | 'mid' | 'last' | null;
  readonly as_of: string | null;
  readonly stale: boolean;
}

type LevelPair = readonly [price: number, size: number];

export interface BookRow extends InstrumentFields {
  readonly bids: readonly LevelPair[];
  readonly asks: readonly LevelPair[];
  readonly last: number | null;
  readonly sequence: number | null;
  readonly as_of: string | null;
  readonly stale: boolean;
}

/**
 * The outcomes that a request names. A token id, as contract id or as `asset_id`, names one; an `asset_id` of another market names
 * none.
 */
export function askedOutcomes({ state, outcomeIndex }: FoundMarket, assetId?: string): readonly number[] {
  return [...state.names.keys()].filter(
    (index) =>
      (outcomeIndex === undefined || outcomeIndex === index) &&
      (assetId === undefined || state.names[index]?.token_ids.includes(assetId) === true),
  );
}

function instrumentFields({ outcomes }: FoldedMarket, contract_id: string, index: number): InstrumentFields {
  const { token_id = null, label = '' } = outcomes[index] ?? {};
  return { contract_id, asset_id: token_id, outcome_index: index, outcome: label };
}

export function markRow(market: FoldedMarket, contractId: string, index: number, now: OutcomeNow): MarkRow {
  const { price, book, last, isStale } = now;
  return {
    ...instrumentFields(market, contractId, index),
    mark: unitOrNull(price?.price),
    bid: unitOrNull(book?.bids[0]?.price),
    ask: unitOrNull(book?.asks[0]?.price),
    last: unitOrNull(last?.price),
    source: price?.source ?? null,
    as_of: timeOrNull(asOf(market, now)),
    stale: isStale,
  };
}

/** Since when the mark holds. Without a mark, the time of the book. */
export function asOf(market: FoldedMarket, { price, book, last }: OutcomeNow): number | undefined {
  switch (price?.source) {
    case 'payout':
      return resolutionOf(market)?.resolved_at;
    case 'last':
      return last?.ts;
    default:
      return book?.source_ts;
  }
}

export function bookRow(
  market: FoldedMarket,
  contractId: string,
  index: number,
  { now: { book, last, isStale }, depth }: { readonly now: OutcomeNow; readonly depth: number },
): BookRow {
  return {
    ...instrumentFields(market, contractId, index),
    bids: (book?.bids ?? []).slice(0, depth).map(levelPair),
    asks: (book?.asks ?? []).slice(0, depth).map(levelPair),
    last: unitOrNull(last?.price),
    sequence: book === undefined ? null : Number(book.sequence),
    as_of: timeOrNull(book?.source_ts),
    stale: isStale,
  };
}

function levelPair({ price, size }: BookLevel): LevelPair {
  return [unit(price), contracts(size)];
}

export function unitOrNull(price: number | undefined): number | null {
  return price === undefined ? null : unit(price);
}

export function timeOrNull(micros: number | undefined | null): string | null {
  return micros === undefined || micros === null ? null : isoTime(micros);
}
