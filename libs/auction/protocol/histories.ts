import type { AuctionEvent, Placed } from '../rules/events.js';

export interface WantedHistories {
  readonly account: string;
  readonly shard: number;
  /** Only auctions that were not over for the account at this position. */
  readonly openAt: number;
  /** Only auctions with an event after this position. */
  readonly happenedBehind: number;
  /** Auctions that may not be over for the account yet, as far as the store is written. */
  readonly others: readonly string[];
  /** Events after this position are not wanted. Called repeatedly, because the position may decrease. */
  readonly upTo: () => number;
}

/** A part of an auction's events, in order. The parts of one auction follow each other. */
export interface HistoryPart {
  readonly auctionId: string;
  readonly events: readonly Placed<AuctionEvent>[];
}

/** The stored histories of an account's own auctions. They lag the journals a little. */
export interface HistoryStore {
  /** The journal position of the shard up to which the store is written. */
  position(shard: number): Promise<number>;
  histories(wanted: WantedHistories): AsyncIterable<HistoryPart>;
}
