import type { AuctionEvent } from '#libs/auction/rules/events.js';
import { encodeEvent } from '#libs/auction/rules/event-versions.js';
import { auctionHistory } from './auction-history.js';

/** Payloads of revisions, the most common events of an owner. */
export function revisionPayloads(count: number): string[] {
  const revision = auctionHistory({ number: 1, shard: 0, quotes: 1, revisions: 1, isOver: false }).find(
    (event: AuctionEvent) => event.type === 'QUOTE_REVISED',
  );
  if (revision === undefined) throw new Error('a history with a revision has none');
  return Array.from({ length: count }, () => encodeEvent(revision));
}
