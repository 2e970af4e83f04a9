import type { AuctionEvent, AwardTerms, ExecutionStep, Placed, QuoteTerms } from './events.js';
import {
  bookOf,
  type AuctionState,
  type Award,
  type ExecutionStatus,
  type MakerBook,
  type Quote,
  type QuoteStatus,
} from './state.js';
import { rank } from './winner-rule.js';

/** The auction after an event. Both are values: nothing is changed in place, and what did not change is the same object. */
export function evolve(state: AuctionState | undefined, { event, position }: Placed<AuctionEvent>): AuctionState {
  if (event.type === 'AUCTION_OPENED') {
    const { terms, hold } = event.data;
    return { terms, status: 'OPEN', hold, books: [], awards: [] };
  }
  if (state === undefined) throw new Error(`auction ${event.auction_id} begins with ${event.type}`);
  switch (event.type) {
    case 'QUOTE_SUBMITTED':
      return entered(state, quoteOf(event.data.quote, event.at, position));
    case 'QUOTE_REVISED':
      return revised(state, event.data.quote, event.at, event.data.keeps_priority ? undefined : position);
    case 'QUOTE_WITHDRAWN':
      return ended(state, event.data, { status: 'WITHDRAWN', updated_at: event.at, withdrawn_by: event.data.by });
    case 'QUOTE_EXPIRED':
      return ended(state, event.data, { status: 'EXPIRED', updated_at: event.at });
    case 'QUOTE_REJECTED':
      return withBook(state, event.data.maker, (book) => book);
    case 'CANCEL_REJECTED':
      return state;
    case 'AUCTION_CANCELLED':
    case 'AUCTION_VOIDED':
      return stopped(state, event);
    case 'AUCTION_CLOSED':
      return { ...state, status: 'CLOSED', closed_at: event.at };
    case 'AUCTION_AWARDED':
      return { ...awarded(state, event.data.awards, event.at), execution_deadline: event.data.execution_deadline };
    case 'AUCTION_NOT_AWARDED':
      return { ...judged(state, [], event.at), not_awarded_reason: event.data.reason };
    case 'EXECUTION_SUBMITTED':
      return executed(state, event.data, 'SUBMITTED', event.at);
    case 'EXECUTION_RETRYING':
      return executed(state, event.data, undefined, event.at);
    case 'EXECUTION_CONFIRMED':
      return executed(state, event.data, 'CONFIRMED', event.at);
    case 'EXECUTION_FAILED':
      return executed(state, event.data, 'FAILED', event.at);
    case 'AUCTION_COMPLETED':
      return { ...state, status: event.data.status, completed_at: event.at };
  }
}

function quoteOf(terms: QuoteTerms, at: string, priority: number): Quote {
  return { ...terms, status: 'ACTIVE', updated_at: at, priority };
}

/** Every event of a maker's own counts on its timeline, so its book counts them. */
function withBook(state: AuctionState, maker: string, change: (book: MakerBook) => MakerBook): AuctionState {
  const known = bookOf(state, maker);
  const changed = change(known ?? { maker, quotes: [], quote_events: 0 });
  const book = { ...changed, quote_events: changed.quote_events + 1 };
  const books = known === undefined ? [...state.books, book] : state.books.map((one) => (one === known ? book : one));
  return { ...state, books };
}

function entered(state: AuctionState, quote: Quote): AuctionState {
  return withBook(state, quote.maker, (book) => ({ ...book, quotes: [...book.quotes, quote] }));
}

function revised(state: AuctionState, terms: QuoteTerms, at: string, priority: number | undefined): AuctionState {
  return withBook(state, terms.maker, (book) => ({
    ...book,
    quotes: book.quotes.map((quote) =>
      quote.quote_id === terms.quote_id ? quoteOf(terms, at, priority ?? quote.priority) : quote,
    ),
  }));
}

function ended(
  state: AuctionState,
  { maker, quote_id }: { readonly maker: string; readonly quote_id: string },
  change: Partial<Quote>,
): AuctionState {
  return withBook(state, maker, (book) => ({
    ...book,
    quotes: book.quotes.map((quote) => (quote.quote_id === quote_id ? { ...quote, ...change } : quote)),
  }));
}

type Stop = Extract<AuctionEvent, { type: 'AUCTION_CANCELLED' | 'AUCTION_VOIDED' }>;

function stopped(state: AuctionState, { type, at, data }: Stop): AuctionState {
  return {
    ...state,
    status: type === 'AUCTION_CANCELLED' ? 'CANCELLED' : 'VOIDED',
    books: mapActive(state, (quote) => ({ ...quote, status: 'RELEASED', updated_at: at })),
    cancellation: { at, ...data },
  };
}

function awarded(state: AuctionState, terms: readonly AwardTerms[], at: string): AuctionState {
  const awards = terms.map((award): Award => ({
    ...award,
    execution_status: 'PENDING',
    execution_events: 0,
    last_attempt: 0,
  }));
  return { ...judged(state, terms, at), status: 'AWARDED', awards };
}

/** What the winner rule has said of every quote that stood at the close. */
function judged(state: AuctionState, awards: readonly AwardTerms[], at: string): AuctionState {
  const standing = state.books.flatMap((book) => book.quotes.filter((quote) => quote.status === 'ACTIVE'));
  const ranked = rank(state.terms, standing);
  const books = mapActive(state, (quote) => {
    const award = awards.find((candidate) => candidate.quote_id === quote.quote_id);
    const place = ranked.indexOf(quote);
    const status: QuoteStatus =
      award === undefined
        ? 'NOT_AWARDED'
        : award.quantity_atoms < quote.quantity_atoms
          ? 'PARTIALLY_AWARDED'
          : 'AWARDED';
    return {
      ...quote,
      status,
      updated_at: at,
      result: {
        awarded_quantity_atoms: award?.quantity_atoms ?? 0,
        ...(award === undefined ? {} : { award_id: award.award_id }),
        ...(place < 0 ? {} : { rank: place + 1 }),
      },
    };
  });
  return { ...state, books };
}

function mapActive(state: AuctionState, change: (quote: Quote) => Quote): readonly MakerBook[] {
  return state.books.map((book) => {
    const last = book.quotes.at(-1);
    if (last?.status !== 'ACTIVE') return book;
    return { ...book, quotes: [...book.quotes.slice(0, -1), change(last)] };
  });
}

function executed(
  state: AuctionState,
  { award_id, attempt }: ExecutionStep,
  status: ExecutionStatus | undefined,
  at: string,
): AuctionState {
  const awards = state.awards.map((award) =>
    award.award_id === award_id
      ? {
          ...award,
          execution_status: status ?? award.execution_status,
          execution_events: award.execution_events + 1,
          last_attempt: attempt,
        }
      : award,
  );
  const ended = status === 'CONFIRMED' ? 'SETTLED' : status === 'FAILED' ? 'FAILED' : undefined;
  const quoteId = awards.find((award) => award.award_id === award_id)?.quote_id;
  const books = ended === undefined ? state.books : settled(state, quoteId, ended, at);
  return { ...state, status: state.status === 'AWARDED' ? 'EXECUTING' : state.status, awards, books };
}

function settled(
  state: AuctionState,
  quoteId: string | undefined,
  status: 'SETTLED' | 'FAILED',
  at: string,
): readonly MakerBook[] {
  return state.books.map((book) =>
    book.quotes.at(-1)?.quote_id === quoteId
      ? {
          ...book,
          quotes: book.quotes.map((quote) =>
            quote.quote_id === quoteId ? { ...quote, status, updated_at: at } : quote,
          ),
        }
      : book,
  );
}
