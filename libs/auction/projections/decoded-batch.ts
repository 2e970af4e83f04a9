import type { AuctionEvent, ShardEvent } from '../rules/events.js';
import { decodeEvent } from '../rules/event-versions.js';
import type { JournalEntry } from '#libs/journal/journal.js';

export interface JournaledAuctionEvent {
  readonly entry: JournalEntry;
  readonly event: AuctionEvent;
}

export interface JournaledShardEvent {
  readonly entry: JournalEntry;
  readonly event: ShardEvent;
}

/** Events by subject. Epoch records are not about auctions and are left out. */
export interface DecodedBatch {
  readonly ofAuctions: readonly JournaledAuctionEvent[];
  readonly ofShard: readonly JournaledShardEvent[];
}

export function decodeBatch(entries: readonly JournalEntry[]): DecodedBatch {
  const ofAuctions: JournaledAuctionEvent[] = [];
  const ofShard: JournaledShardEvent[] = [];
  for (const entry of entries) {
    if (entry.kind === 'epoch') continue;
    const event = decodeEvent(entry.payload);
    if ('auction_id' in event) ofAuctions.push({ entry, event });
    else ofShard.push({ entry, event });
  }
  return { ofAuctions, ofShard };
}
