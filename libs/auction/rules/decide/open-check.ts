import type { Instant } from '#libs/base/instant.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import { activeQuote, type AuctionState, findQuote, type Quote } from '../state.js';

/** Nothing is accepted from `closes_at` on, even if the close is journaled later. */
export function checkOpen(state: AuctionState, now: Instant): Rejection | undefined {
  return state.status === 'OPEN' && now < state.terms.closes_at
    ? undefined
    : rejected('AUCTION_NOT_OPEN', 'The auction is not open.');
}

/** A quote past its expiry counts as expired even before the expiry is journaled. */
export function isStanding(quote: Quote, now: Instant): boolean {
  return quote.status === 'ACTIVE' && (quote.expires_at === undefined || now < quote.expires_at);
}

export function standingQuoteOf(state: AuctionState, maker: string, now: Instant): Quote | undefined {
  const quote = activeQuote(state, maker);
  return quote !== undefined && isStanding(quote, now) ? quote : undefined;
}

export function standingQuote(state: AuctionState, quoteId: string, now: Instant): Quote | undefined {
  const quote = findQuote(state, quoteId);
  return quote !== undefined && isStanding(quote, now) ? quote : undefined;
}

/** Control, format, private-use and unassigned characters, lone surrogates and line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const MAX_REFERENCE_CHARS = 64;
const MAX_REASON_CHARS = 200;

export function checkReference(reference: string | undefined): Rejection | undefined {
  return checkText('client_reference', reference, MAX_REFERENCE_CHARS);
}

export function checkReason(reason: string | undefined): Rejection | undefined {
  return checkText('reason', reason, MAX_REASON_CHARS);
}

/** A character is a code point, so that the limit is the same for every script. */
function checkText(field: string, text: string | undefined, max: number): Rejection | undefined {
  return text === undefined || (Array.from(text).length <= max && !UNPRINTABLE.test(text))
    ? undefined
    : rejected('INVALID_TERMS', `${field} has at most ${max} printable characters.`);
}
