import type { AuctionEvent } from '../events.js';
import { findQuote, type AuctionState } from '../state.js';

/** The accounts whose timelines an event may add to. No other timeline gains an entry. */
export function concernedBy(event: AuctionEvent, after: AuctionState): readonly string[] {
  switch (event.type) {
    case 'QUOTE_SUBMITTED':
    case 'QUOTE_REVISED':
      return [event.data.quote.maker];
    case 'QUOTE_WITHDRAWN':
    case 'QUOTE_EXPIRED':
    case 'QUOTE_REJECTED':
      return [event.data.maker];
    case 'CANCEL_REJECTED':
      return [];
    case 'EXECUTION_SUBMITTED':
    case 'EXECUTION_RETRYING':
    case 'EXECUTION_CONFIRMED':
    case 'EXECUTION_FAILED':
      return [after.terms.originator.account_id, ...winnerOf(after, event.data.award_id)];
    default:
      return partiesOf(after);
  }
}

/** All accounts that may see the auction. */
export function partiesOf({ terms }: AuctionState): readonly string[] {
  return [terms.originator.account_id, ...terms.audience.map((party) => party.account_id)];
}

function winnerOf(state: AuctionState, awardId: string): readonly string[] {
  const award = state.awards.find(({ award_id: id }) => id === awardId);
  const quote = award === undefined ? undefined : findQuote(state, award.quote_id);
  return quote === undefined ? [] : [quote.maker];
}
