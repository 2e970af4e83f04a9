import type { AuctionEvent, Placed } from '../events.js';
import { evolve } from '../evolve/evolve.js';
import { quoteView, type QuoteView } from './quote-view.js';
import { findQuote, type AuctionState } from '../state.js';
import { auctionView, type AuctionView } from './view.js';

/** The error body of a refused command. */
export interface RefusalBody {
  readonly error: string;
  readonly message: string;
}

export interface CommandReply {
  readonly status: 200 | 201 | 422;
  readonly body: AuctionView | QuoteView | RefusalBody;
}

/**
 * The reply to the call that caused `event`, from the state right after it. Undefined if no call on this auction
 * caused it. Depends only on events up to this one that the caller may see.
 */
export function commandReply(after: AuctionState, event: AuctionEvent): CommandReply | undefined {
  switch (event.type) {
    case 'AUCTION_OPENED':
      return { status: 201, body: auctionView(after, originatorOf(after)) };
    case 'AUCTION_CANCELLED':
      return { status: 200, body: auctionView(cancelledAndCompleted(after, event), originatorOf(after)) };
    case 'QUOTE_SUBMITTED':
      return quoteReply(after, event.data.quote.quote_id, 201);
    case 'QUOTE_REVISED':
      return quoteReply(after, event.data.quote.quote_id, 200);
    case 'QUOTE_WITHDRAWN':
      return quoteReply(after, event.data.quote_id, 200);
    case 'QUOTE_REJECTED':
    case 'CANCEL_REJECTED':
      return refusal(event.data);
    default:
      return undefined;
  }
}

/**
 * The reply to a repeat of the call that caused the event at `position`. `events` are all events of the auction;
 * later ones do not matter.
 */
export function replyFor(events: readonly Placed<AuctionEvent>[], position: number): CommandReply {
  let state: AuctionState | undefined;
  for (const placed of events) {
    state = evolve(state, placed);
    if (placed.position !== position) continue;
    const first = commandReply(state, placed.event);
    if (first !== undefined) return repeated(first);
  }
  throw new Error(`no answered call at position ${position}`);
}

/** The same body, but with 200: nothing is created now. */
export function repeated(first: CommandReply): CommandReply {
  return first.status === 201 ? { status: 200, body: first.body } : first;
}

export function refusal(refused: RefusalBody): CommandReply {
  return { status: 422, body: { error: refused.error, message: refused.message } };
}

/**
 * A cancel completes the auction in the same decision. Its reply shows the completion, from whichever of the two
 * events it is made.
 */
function cancelledAndCompleted(after: AuctionState, event: AuctionEvent): AuctionState {
  return { ...after, completed_at: event.at };
}

function originatorOf(state: AuctionState) {
  return { account_id: state.terms.originator.account_id, role: 'ORIGINATOR' } as const;
}

function quoteReply(after: AuctionState, quoteId: string, status: 200 | 201): CommandReply {
  const quote = findQuote(after, quoteId);
  if (quote === undefined) throw new Error('a quote event without its quote');
  return { status, body: quoteView(after, quote) };
}
