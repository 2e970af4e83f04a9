import type { AuctionEvent, Placed } from '../rules/events.js';
import { evolve } from '../rules/evolve/evolve.js';
import type { AuctionState, Quote } from '../rules/state.js';
import { isDecided, isOverFor, type Viewer } from '../rules/told/viewer.js';

/** An auction after some of its events: what it is, how many they were and where the last of them stands. */
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

/** The quotes that their makers see differently now. `evolve` keeps what it does not change as the same object. */
export function changedQuotes(before: AuctionState | undefined, after: AuctionState): Quote[] {
  const unchanged = new Set(before?.books.flatMap((book) => book.quotes));
  return after.books.flatMap((book) => book.quotes).filter((quote) => !unchanged.has(quote));
}

/** Everybody for whom the auction has become over on the way from `before` to `after`. */
export function newlyOverFor(before: AuctionState | undefined, after: AuctionState): Viewer[] {
  if (!hasEnded(after)) return [];
  return viewersOf(after).filter(
    (viewer) => isOverFor(after, viewer) && !(before !== undefined && isOverFor(before, viewer)),
  );
}

export function isOverForAnybody(state: AuctionState): boolean {
  return hasEnded(state) && viewersOf(state).some((viewer) => isOverFor(state, viewer));
}

/** Before this it is over for nobody, and nobody need be asked. */
function hasEnded(state: AuctionState): boolean {
  return state.completed_at !== undefined || isDecided(state);
}

function viewersOf({ terms }: AuctionState): Viewer[] {
  const makers = terms.audience.map(({ account_id }): Viewer => ({ account_id, role: 'MARKET_MAKER' }));
  return [{ account_id: terms.originator.account_id, role: 'ORIGINATOR' }, ...makers];
}
