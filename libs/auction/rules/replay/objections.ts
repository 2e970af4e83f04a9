import type { AuctionEvent } from '../events.js';
import {
  objectionToCompletion,
  objectionToDecision,
  objectionToEnd,
  objectionToExecution,
  objectionToExpiry,
} from './endings.js';
import { objectionToOpening } from './opening.js';
import { objectionToRevision, objectionToSubmission, objectionToWithdrawal } from './quotes.js';
import { objectionToCancelRefusal, objectionToRefusal } from './refusals.js';
import type { AuctionState } from '../state.js';

/**
 * Why the rules would not have produced this event in the state `before`; undefined if they would. The result of a
 * command is checked by the rules that decided it. Results of time or of the close are decided again.
 */
export function objectionTo(before: AuctionState | undefined, event: AuctionEvent): string | undefined {
  if (event.type === 'AUCTION_OPENED') {
    return before === undefined ? objectionToOpening(event) : 'the auction is open already';
  }
  if (before === undefined) return 'the auction has not been opened';
  if (event.auction_id !== before.terms.auction_id) return 'it belongs to another auction';
  if (before.completed_at !== undefined) return 'the auction is over';
  switch (event.type) {
    case 'QUOTE_SUBMITTED':
      return objectionToSubmission(before, event);
    case 'QUOTE_REVISED':
      return objectionToRevision(before, event);
    case 'QUOTE_WITHDRAWN':
      return objectionToWithdrawal(before, event);
    case 'QUOTE_REJECTED':
      return objectionToRefusal(before, event);
    case 'QUOTE_EXPIRED':
      return objectionToExpiry(before, event);
    case 'CANCEL_REJECTED':
      return objectionToCancelRefusal(before, event);
    case 'AUCTION_CANCELLED':
    case 'AUCTION_VOIDED':
      return objectionToEnd(before, event);
    case 'AUCTION_CLOSED':
    case 'AUCTION_AWARDED':
    case 'AUCTION_NOT_AWARDED':
      return objectionToDecision(before, event);
    case 'EXECUTION_SUBMITTED':
    case 'EXECUTION_RETRYING':
    case 'EXECUTION_CONFIRMED':
    case 'EXECUTION_FAILED':
      return objectionToExecution(before, event);
    case 'AUCTION_COMPLETED':
      return objectionToCompletion(before, event);
  }
}
