import type { AuctionEvent, Placed } from '../rules/events.js';
import { evolve } from '../rules/evolve/evolve.js';
import type { AuctionState, Quote } from '../rules/state.js';
import { isDecided, isOverFor, type Viewer } from '../rules/told/viewer.js';

/** An auction after some of its events: its state, their number, and the position of the last one. */
export interface FoldedAuction {
  readonly state: AuctionState;
  readonly events: number;
  readonly sequence: number;
}

export function fold(before: FoldedAuction | undefined, placed: Placed<AuctionEvent>): FoldedAuction {
  return {
    state: evolve(before?.state, placed),
    events: (before?.events ?? 0) + 1,
    sequence: placed.position,
  };
}

/** The quotes that changed for their makers. `evolve` keeps unchanged quotes as the same objects. */
export function changedQuotes(before: AuctionState | undefined, after: AuctionState): Quote[] {
  const unchanged = new Set(before?.books.flatMap((book) => book.quotes));
  return after.books.flatMap((book) => book.quotes).filter((quote) => !unchanged.has(quote));
}

/** All parties for whom the auction became over between `before` and `after`. */
export function newlyOverFor(before: AuctionState | undefined, after: AuctionState): Viewer[] {
  if (!hasEnded(after)) return [];
  return viewersOf(after).filter(
    (viewer) => isOverFor(after, viewer) && !(before !== undefined && isOverFor(before, viewer)),
  );
}

export function isOverForAnybody(state: AuctionState): boolean {
  return hasEnded(state) && viewersOf(state).some((viewer) => isOverFor(state, viewer));
}

/** Before this, the auction is over for no party. */
function hasEnded(state: AuctionState): boolean {
  return state.completed_at !== undefined || isDecided(state);
}

function viewersOf({ terms }: AuctionState): Viewer[] {
  const makers = terms.audience.map(({ account_id }): Viewer => ({ account_id, role: 'MARKET_MAKER' }));
  return [{ account_id: terms.originator.account_id, role: 'ORIGINATOR' }, ...makers];
}
