import { concernedBy } from '../../rules/told/concerned.js';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import type { AuctionState } from '../../rules/state.js';
import type { TimelineEntry } from '../../rules/told/timeline-entry.js';
import { timelineEntries } from '../../rules/told/timeline.js';
import { viewVersion } from '../../rules/told/view.js';
import { type Viewer, viewerOf } from '../../rules/told/viewer.js';

/** The effect of one event on an auction. Both states are immutable, so any viewer can be served from it later. */
export interface Change {
  readonly placed: Placed<AuctionEvent>;
  readonly before: AuctionState | undefined;
  readonly after: AuctionState;
}

/** How many entries one event added to one account's timeline of one auction. */
export interface Gain {
  readonly auctionId: string;
  readonly entries: number;
}

/** One entry of one account's timeline, rendered once for all of its sockets. */
export interface FeedEvent {
  /** The event's position in its shard's journal. One event may give several entries. */
  readonly position: number;
  readonly auctionId: string;
  readonly timelineSeq: number;
  /** The members of the message that all subscriptions share, as JSON text without the braces. */
  readonly members: string;
}

export function accountsOf({ placed, after }: Change): readonly string[] {
  return concernedBy(placed.event, after);
}

/** The entries that the change adds to the account's timeline, usually none or one. */
export function eventsFor(change: Change, account: string): FeedEvent[] {
  const { placed, before, after } = change;
  const viewer = viewerOf(after, account);
  if (viewer === undefined) return [];
  const entries = timelineEntries(before, placed, after, viewer);
  if (entries.length === 0) return [];
  const { auction_id: auctionId } = after.terms;
  let timelineSeq = versionOf(before, viewer);
  return entries.map((entry) => {
    timelineSeq += 1;
    return {
      position: placed.position,
      auctionId,
      timelineSeq,
      members: membersOf(auctionId, timelineSeq, entry),
    };
  });
}

/** Only the number of entries: a view's version is the length of its timeline. */
export function gainOf({ before, after }: Change, account: string): Gain {
  const viewer = viewerOf(after, account);
  const entries = viewer === undefined ? 0 : viewVersion(after, viewer) - versionOf(before, viewer);
  return { auctionId: after.terms.auction_id, entries };
}

export function membersOf(
  auctionId: string,
  timelineSeq: number,
  { kind, occurred_at: occurredAt, data }: TimelineEntry,
): string {
  return `"auction_id":"${auctionId}","timeline_seq":${timelineSeq},"kind":"${kind}","occurred_at":"${occurredAt}","data":${JSON.stringify(data)}`;
}

function versionOf(state: AuctionState | undefined, viewer: Viewer): number {
  return state === undefined ? 0 : viewVersion(state, viewer);
}
