import type { AwardTerms, CancelledBy, CompletedStatus, NotAwardedReason, WithdrawnBy } from './events.js';
import type { Held } from './held.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Terms } from './terms.js';

export type LiveStatus = 'OPEN' | 'CLOSED' | 'AWARDED' | 'EXECUTING';
export type AuctionStatus = LiveStatus | CompletedStatus;
export type QuoteStatus =
  | 'ACTIVE'
  | 'WITHDRAWN'
  | 'EXPIRED'
  | 'AWARDED'
  | 'PARTIALLY_AWARDED'
  | 'NOT_AWARDED'
  | 'RELEASED'
  | 'SETTLED'
  | 'FAILED';
export type ExecutionStatus = 'PENDING' | 'SUBMITTED' | 'CONFIRMED' | 'FAILED';

/** The winner rule's result for a quote that was active at the close. Absent until the decision. */
export interface QuoteResult {
  readonly awarded_quantity_atoms: Atoms;
  readonly award_id?: string;
  /** Rank among all quotes that counted, 1 is best. Absent for a quote worse than the originator's limit. */
  readonly rank?: number;
}

export interface Quote {
  readonly quote_id: string;
  readonly maker: string;
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
  /** Journal position of the last revision that changed the price or raised the quantity. */
  readonly priority: number;
  readonly held: Held;
  /** The stream connection on which the quote was submitted. Revisions do not change it, and no view shows it. */
  readonly connection_id?: string;
  readonly result?: QuoteResult;
}

/** One invited maker's part of an auction. Exists only for makers that did something. */
export interface MakerBook {
  readonly maker: string;
  /** All quotes of this maker, oldest first; at most the last one is ACTIVE. */
  readonly quotes: readonly Quote[];
  /** How many entries of this maker's timeline come from its quotes before the close, rejections included. */
  readonly quote_events: number;
}

export interface Award extends AwardTerms {
  readonly execution_status: ExecutionStatus;
  /** How many execution entries the timelines of the winner and the originator have. */
  readonly execution_events: number;
  /** The latest attempt that was reported. Reports of earlier attempts are ignored. */
  readonly last_attempt: number;
}

export interface AuctionState {
  readonly terms: Terms;
  readonly status: AuctionStatus;
  /** What the originator has set aside. After the decision it is divided among the awards. */
  readonly held: Held;
  readonly books: readonly MakerBook[];
  readonly awards: readonly Award[];
  readonly closed_at?: Instant;
  readonly completed_at?: Instant;
  readonly execution_deadline?: Instant;
  readonly not_awarded_reason?: NotAwardedReason;
  readonly cancellation?: { readonly at: Instant; readonly by: CancelledBy; readonly reason?: string };
}

const LIVE: ReadonlySet<AuctionStatus> = new Set<AuctionStatus>(['OPEN', 'CLOSED', 'AWARDED', 'EXECUTING']);

export function isLive(status: AuctionStatus): status is LiveStatus {
  return LIVE.has(status);
}

export function bookOf(state: AuctionState, maker: string): MakerBook | undefined {
  return state.books.find((book) => book.maker === maker);
}

/** The maker's quote that counts now, if it has one. */
export function activeQuote(state: AuctionState, maker: string): Quote | undefined {
  const last = bookOf(state, maker)?.quotes.at(-1);
  return last?.status === 'ACTIVE' ? last : undefined;
}

export function activeQuotes(state: AuctionState): Quote[] {
  const active: Quote[] = [];
  for (const { quotes } of state.books) {
    const last = quotes.at(-1);
    if (last?.status === 'ACTIVE') active.push(last);
  }
  return active;
}

/** The latest quote of each maker, in any status. */
export function* lastQuotes({ books }: AuctionState): Generator<Quote> {
  for (const { quotes } of books) {
    const last = quotes.at(-1);
    if (last !== undefined) yield last;
  }
}

export function findQuote(state: AuctionState, quoteId: string): Quote | undefined {
  for (const book of state.books) {
    const found = book.quotes.find((quote) => quote.quote_id === quoteId);
    if (found !== undefined) return found;
  }
  return undefined;
}
