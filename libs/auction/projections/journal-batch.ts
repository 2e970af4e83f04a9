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

/** Entries of one shard by what they are about. Records of epochs say nothing of auctions and are in neither. */
export interface JournalBatch {
  readonly shard: number;
  readonly ofAuctions: readonly JournaledAuctionEvent[];
  readonly ofShard: readonly JournaledShardEvent[];
}

export function readBatch(shard: number, entries: readonly JournalEntry[]): JournalBatch {
  const ofAuctions: JournaledAuctionEvent[] = [];
  const ofShard: JournaledShardEvent[] = [];
  for (const entry of entries) {
    if (entry.kind === 'epoch') continue;
    const event = decodeEvent(entry.payload);
    if ('auction_id' in event) ofAuctions.push({ entry, event });
    else ofShard.push({ entry, event });
  }
  return { shard, ofAuctions, ofShard };
}
