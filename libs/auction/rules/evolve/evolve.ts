import type { AuctionEvent, Placed } from '../events.js';
import { awarded, executed, notAwarded } from './outcome.js';
import { ended, entered, released, rejectedOnce, revised } from './quotes.js';
import { heldAs } from '../held.js';
import type { AuctionState } from '../state.js';

/**
 * The auction after an event. States are immutable: unchanged parts are shared, so a quote copies only its own
 * maker's part of the auction.
 */
export function evolve(
  state: AuctionState | undefined,
  { event, position }: Placed<AuctionEvent>,
): AuctionState {
  if (event.type === 'AUCTION_OPENED') {
    const { terms, hold } = event.data;
    return { terms, status: 'OPEN', held: heldAs(hold), books: [], awards: [] };
  }
  if (state === undefined) throw new Error(`auction ${event.auction_id} begins with ${event.type}`);
  const { at } = event;
  switch (event.type) {
    case 'QUOTE_SUBMITTED':
      return entered(state, event.data, at, position);
    case 'QUOTE_REVISED':
      return revised(state, event.data.quote, at, event.data.keeps_priority ? undefined : position);
    case 'QUOTE_WITHDRAWN':
      return ended(state, event.data, { status: 'WITHDRAWN', updated_at: at, withdrawn_by: event.data.by });
    case 'QUOTE_EXPIRED':
      return ended(state, event.data, { status: 'EXPIRED', updated_at: at });
    case 'QUOTE_REJECTED':
      return rejectedOnce(state, event.data.maker);
    case 'CANCEL_REJECTED':
      return state;
    case 'AUCTION_CANCELLED':
      return stopped(state, 'CANCELLED', { at, ...event.data });
    case 'AUCTION_VOIDED': {
      // The operator is not part of the state; only the journal has it.
      const { by, reason } = event.data;
      return stopped(state, 'VOIDED', { at, by, ...(reason === undefined ? {} : { reason }) });
    }
    case 'AUCTION_CLOSED':
      return { ...state, status: 'CLOSED', closed_at: at };
    case 'AUCTION_AWARDED':
      return awarded(state, event.data.awards, event.data.execution_deadline, at);
    case 'AUCTION_NOT_AWARDED':
      return notAwarded(state, event.data.reason, at);
    // A retry implies an earlier submission, even if the report of it was lost.
    case 'EXECUTION_SUBMITTED':
    case 'EXECUTION_RETRYING':
      return executed(state, event.data, 'SUBMITTED', at);
    case 'EXECUTION_CONFIRMED':
      return executed(state, event.data, 'CONFIRMED', at);
    case 'EXECUTION_FAILED':
      return executed(state, event.data, 'FAILED', at);
    case 'AUCTION_COMPLETED':
      return { ...state, status: event.data.status, completed_at: at };
  }
}

function stopped(
  state: AuctionState,
  status: 'CANCELLED' | 'VOIDED',
  cancellation: NonNullable<AuctionState['cancellation']>,
): AuctionState {
  return { ...state, status, books: released(state, cancellation.at), cancellation };
}
