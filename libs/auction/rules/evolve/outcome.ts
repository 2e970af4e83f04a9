import type { AwardTerms, ExecutionStep, NotAwardedReason } from '../events.js';
import type { Instant } from '#libs/base/instant.js';
import {
  activeQuotes,
  type AuctionState,
  type Award,
  type ExecutionStatus,
  type MakerBook,
  type Quote,
  type QuoteStatus,
} from '../state.js';
import { rank } from '../winner-rule.js';
import { changed, mapActive } from './quotes.js';

const QUOTE_AFTER: Readonly<Partial<Record<ExecutionStatus, QuoteStatus>>> = {
  CONFIRMED: 'SETTLED',
  FAILED: 'FAILED',
};

export function awarded(
  state: AuctionState,
  terms: readonly AwardTerms[],
  deadline: Instant,
  at: Instant,
): AuctionState {
  const awards = terms.map((award): Award => ({
    ...award,
    execution_status: 'PENDING',
    execution_events: 0,
    last_attempt: 0,
  }));
  return {
    ...state,
    status: 'AWARDED',
    books: judged(state, terms, at),
    awards,
    execution_deadline: deadline,
  };
}

export function notAwarded(state: AuctionState, reason: NotAwardedReason, at: Instant): AuctionState {
  return { ...state, books: judged(state, [], at), not_awarded_reason: reason };
}

/** Writes the winner rule's result into every quote that was active at the close. */
function judged(state: AuctionState, awards: readonly AwardTerms[], at: Instant): readonly MakerBook[] {
  const ranks = new Map(rank(state.terms, activeQuotes(state)).map((quote, index) => [quote, index + 1]));
  const won = new Map(awards.map((award) => [award.quote_id, award]));
  return mapActive(state, (quote) => {
    const award = won.get(quote.quote_id);
    const position = ranks.get(quote);
    return {
      ...quote,
      status: statusAfter(quote, award),
      updated_at: at,
      result: {
        awarded_quantity_atoms: award?.quantity_atoms ?? 0,
        ...(award === undefined ? {} : { award_id: award.award_id }),
        ...(position === undefined ? {} : { rank: position }),
      },
    };
  });
}

function statusAfter(quote: Quote, award: AwardTerms | undefined): QuoteStatus {
  if (award === undefined) return 'NOT_AWARDED';
  return award.quantity_atoms < quote.quantity_atoms ? 'PARTIALLY_AWARDED' : 'AWARDED';
}

export function executed(
  state: AuctionState,
  { award_id: awardId, attempt }: ExecutionStep,
  status: ExecutionStatus,
  at: Instant,
): AuctionState {
  const index = state.awards.findIndex((award) => award.award_id === awardId);
  const award = state.awards[index];
  if (award === undefined) return state;
  const after: Award = {
    ...award,
    execution_status: status,
    execution_events: award.execution_events + 1,
    last_attempt: Math.max(attempt, award.last_attempt),
  };
  return {
    ...state,
    status: state.status === 'AWARDED' ? 'EXECUTING' : state.status,
    awards: state.awards.with(index, after),
    books: settled(state.books, award, QUOTE_AFTER[status], at),
  };
}

function settled(
  books: readonly MakerBook[],
  award: Award,
  status: QuoteStatus | undefined,
  at: Instant,
): readonly MakerBook[] {
  const index = books.findIndex((book) => book.maker === award.maker);
  const book = books[index];
  if (book === undefined || status === undefined) return books;
  const quotes = changed(book.quotes, award.quote_id, (quote) => ({ ...quote, status, updated_at: at }));
  return books.with(index, { ...book, quotes });
}
