import type { AuctionEvent, Placed } from '../rules/events.js';

export interface WantedHistories {
  readonly account: string;
  readonly shard: number;
  /** Auctions that were not over for the account at this position, */
  readonly openAt: number;
  /** and in which something happened after this one. */
  readonly happenedBehind: number;
  /** Those of them that may not be over for the account yet, as far as the store goes. */
  readonly others: readonly string[];
  /** Nothing after this position is wanted. Asked again and again, because it may become less. */
  readonly upTo: () => number;
}

/** Some of an auction's events, in order. Those of one auction follow each other. */
export interface HistoryPart {
  readonly auctionId: string;
  readonly events: readonly Placed<AuctionEvent>[];
}

/** The histories of an account's own auctions as they are kept for good, a moment behind the journals. */
export interface HistoryStore {
  /** Up to which record of the shard's journal it goes. */
  position(shard: number): Promise<number>;
  histories(wanted: WantedHistories): AsyncIterable<HistoryPart>;
}
