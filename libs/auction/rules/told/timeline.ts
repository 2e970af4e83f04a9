import type { AuctionEvent, Placed } from '../events.js';
import { evolve } from '../evolve/evolve.js';
import { makerEntries } from './maker-timeline.js';
import { originatorEntries } from './originator-timeline.js';
import type { AuctionState } from '../state.js';
import type { NumberedEntry, TimelineEntry } from './timeline-entry.js';
import { isOverFor, statusFor, type Viewer } from './viewer.js';

/**
 * The entries that one event adds to the viewer's timeline, usually none or one. Once the auction is over for the
 * viewer nothing is added; the event that ends it adds AUCTION_COMPLETED last.
 */
export function timelineEntries(
  before: AuctionState | undefined,
  placed: Placed<AuctionEvent>,
  after: AuctionState,
  viewer: Viewer,
): TimelineEntry[] {
  if (before !== undefined && isOverFor(before, viewer)) return [];
  const { event } = placed;
  const entries =
    viewer.role === 'ORIGINATOR'
      ? originatorEntries(event, after, viewer)
      : makerEntries(event, after, viewer);
  return isOverFor(after, viewer) ? [...entries, completed(event, after, viewer)] : entries;
}

/** The viewer's whole timeline, and the state after the last event. */
export function timeline(
  events: readonly Placed<AuctionEvent>[],
  viewer: Viewer,
): { readonly entries: readonly NumberedEntry[]; readonly state: AuctionState | undefined } {
  const entries: NumberedEntry[] = [];
  let state: AuctionState | undefined;
  for (const placed of events) {
    const after = evolve(state, placed);
    for (const entry of timelineEntries(state, placed, after, viewer)) {
      entries.push({ seq: entries.length + 1, ...entry });
    }
    state = after;
  }
  return { entries, state };
}

function completed(event: AuctionEvent, after: AuctionState, viewer: Viewer): TimelineEntry {
  return {
    kind: 'AUCTION_COMPLETED',
    occurred_at: event.at,
    actor: 'SYSTEM',
    data: { status: statusFor(after, viewer) },
  };
}
