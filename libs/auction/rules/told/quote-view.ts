import type { WithdrawnBy } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { AuctionState, Quote, QuoteStatus } from '../state.js';

export type LossReason = 'NOT_SELECTED' | 'NO_AWARD';

/** A quote as its own maker sees it. Fields come in this order; a field that does not apply is absent. */
export interface QuoteView {
  readonly quote_id: string;
  readonly auction_id: string;
  readonly revision: number;
  readonly status: QuoteStatus;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly min_quantity_atoms: Atoms;
  readonly expires_at?: Instant;
  readonly client_reference?: string;
  readonly submitted_at: Instant;
  readonly updated_at: Instant;
  readonly withdrawn_by?: WithdrawnBy;
  readonly result?: QuoteResultView;
}

/**
 * The result of a quote that was active at the close. A winner sees its award; a loser the reason, and what
 * `result_disclosure` adds.
 */
export type QuoteResultView =
  | { readonly awarded_quantity_atoms: Atoms; readonly award_id: string }
  | ({ readonly awarded_quantity_atoms: Atoms } & Loss);

export interface Loss {
  readonly reason: LossReason;
  readonly rank?: number;
  readonly winning_price_atoms?: Atoms;
}

export function quoteView(state: AuctionState, quote: Quote): QuoteView {
  return {
    ...termsView(state, quote),
    ...(quote.client_reference !== undefined && { client_reference: quote.client_reference }),
    ...historyView(state, quote),
  };
}

/** The view without the maker's private note. */
export function quoteViewForOthers(state: AuctionState, quote: Quote): Omit<QuoteView, 'client_reference'> {
  return { ...termsView(state, quote), ...historyView(state, quote) };
}

function termsView(state: AuctionState, quote: Quote) {
  return {
    quote_id: quote.quote_id,
    auction_id: state.terms.auction_id,
    revision: quote.revision,
    status: quote.status,
    price_atoms: quote.price_atoms,
    quantity_atoms: quote.quantity_atoms,
    min_quantity_atoms: quote.min_quantity_atoms,
    ...(quote.expires_at !== undefined && { expires_at: quote.expires_at }),
  };
}

function historyView(state: AuctionState, quote: Quote) {
  const result = resultView(state, quote);
  return {
    submitted_at: quote.submitted_at,
    updated_at: quote.updated_at,
    ...(quote.withdrawn_by !== undefined && { withdrawn_by: quote.withdrawn_by }),
    ...(result !== undefined && { result }),
  };
}

function resultView(state: AuctionState, quote: Quote): QuoteResultView | undefined {
  if (quote.result === undefined) return undefined;
  const { awarded_quantity_atoms, award_id } = quote.result;
  if (award_id !== undefined) return { awarded_quantity_atoms, award_id };
  return { awarded_quantity_atoms, ...lossOf(state, quote) };
}

/** What the maker of a losing quote learns. */
export function lossOf(state: AuctionState, quote: Quote): Loss {
  const { result_disclosure: disclosure } = state.terms;
  const rank = disclosure === 'WINNING_PRICE_AND_RANK' ? quote.result?.rank : undefined;
  const price = disclosure === 'OWN_RESULT' ? undefined : worstWinningPrice(state);
  return {
    reason: state.awards.length > 0 ? 'NOT_SELECTED' : 'NO_AWARD',
    ...(rank !== undefined && { rank }),
    ...(price !== undefined && { winning_price_atoms: price }),
  };
}

/** The worst price that still won. */
function worstWinningPrice(state: AuctionState): Atoms | undefined {
  if (state.awards.length === 0) return undefined;
  const prices = state.awards.map((award) => award.price_atoms);
  return state.terms.side === 'BUY' ? Math.max(...prices) : Math.min(...prices);
}
