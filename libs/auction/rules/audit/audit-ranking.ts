import type { Atoms } from '#libs/base/money.js';
import type { AuctionState, Quote, QuoteResult } from '../state.js';

/** The name of an account for auditors: constant within one auction, different in every other. */
export type PseudonymOf = (accountId: string) => string;

export type RankingReason =
  | 'AWARDED'
  | 'PARTIALLY_AWARDED'
  /** Worse than the originator's limit, so it did not count. */
  | 'RESERVE_NOT_MET'
  /** No quote won, because the possible awards together stayed below the auction's minimum fill. */
  | 'MINIMUM_NOT_MET'
  /** Too small for the minimum fill, which a single winner must reach alone. */
  | 'BELOW_MINIMUM_FILL'
  /** Better quotes took the whole quantity. */
  | 'OUTRANKED'
  /** The remaining quantity was below the quote's own minimum. */
  | 'QUOTE_MINIMUM_NOT_MET'
  | 'MAX_WINNERS_REACHED';

export interface RankingRow {
  readonly quote_id: string;
  readonly market_maker: string;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly rank?: number;
  readonly awarded_quantity_atoms: Atoms;
  readonly reason: RankingReason;
}

type Judged = Quote & { readonly result: QuoteResult };

/** Every quote that was active at the close, in the order of the winner rule, with its result and the reason. */
export function auditRanking(state: AuctionState, pseudonymOf: PseudonymOf): RankingRow[] {
  const judged = state.books.flatMap((book) => book.quotes).filter(isJudged);
  judged.sort((one, other) => sortKey(one) - sortKey(other) || one.priority - other.priority);
  let left = state.terms.quantity_atoms;
  let winners = 0;
  return judged.map((quote) => {
    const reason = reasonOf(state, quote, left, winners);
    const { rank, awarded_quantity_atoms } = quote.result;
    left -= awarded_quantity_atoms;
    if (awarded_quantity_atoms > 0) winners += 1;
    return {
      quote_id: quote.quote_id,
      market_maker: pseudonymOf(quote.maker),
      price_atoms: quote.price_atoms,
      quantity_atoms: quote.quantity_atoms,
      ...(rank !== undefined && { rank }),
      awarded_quantity_atoms,
      reason,
    };
  });
}

function reasonOf(state: AuctionState, quote: Judged, left: Atoms, winners: number): RankingReason {
  const { terms } = state;
  const { rank, awarded_quantity_atoms: awarded } = quote.result;
  if (awarded > 0) return awarded === quote.quantity_atoms ? 'AWARDED' : 'PARTIALLY_AWARDED';
  if (rank === undefined) return 'RESERVE_NOT_MET';
  if (state.awards.length === 0) return 'MINIMUM_NOT_MET';
  if (terms.allocation === 'SINGLE_WINNER') return winners === 0 ? 'BELOW_MINIMUM_FILL' : 'OUTRANKED';
  if (left === 0) return 'OUTRANKED';
  return winners === terms.max_winners ? 'MAX_WINNERS_REACHED' : 'QUOTE_MINIMUM_NOT_MET';
}

function isJudged(quote: Quote): quote is Judged {
  return quote.result !== undefined;
}

function sortKey(quote: Judged): number {
  return quote.result.rank ?? Number.MAX_SAFE_INTEGER;
}
