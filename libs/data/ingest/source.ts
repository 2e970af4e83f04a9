import type { MarketDataEvent } from '../rules/events.js';

/** Events of one provider (or one label) in the order in which its source gives them. Any of them may come again, and late. */
export interface SourceBatch {
  readonly events: readonly MarketDataEvent[];
  /** Where to go on after these, in the source's own words. It is stored once all of the batch is durable. */
  readonly cursor: string;
  /** Up to which time the source is known to have told everything: its last good poll or heartbeat. Microseconds. */
  readonly asOf?: number;
  /** Nothing more was there when this was read. */
  readonly isCaughtUp: boolean;
  /** From when on the source has told everything, once it has. Microseconds; 0 where it has told all that ever was. */
  readonly reachesFrom?: number;
  /** Called once all of it is applied, or counts as applied. */
  readonly onApplied?: () => void;
}

/** A body that breaks the venue's own form. Nothing of it may be published; the provider is stale until a body reads well. */
export interface Quarantined {
  readonly quarantined: string;
  readonly body: string;
}

/** One stream of events: of one provider, from one source. */
export interface SourceFeed {
  readonly source: 'seed' | 'recorded' | 'practice';
  /** The provider, or `labels` for games and ticks. It names the journal. */
  readonly of: string;
  /**
   * From the cursor on, for ever; ends only when stopped. Throws where the source cannot be reached; it is then followed again from
   * the last stored cursor.
   */
  follow(cursor: string | undefined, stop: AbortSignal): AsyncIterable<SourceBatch | Quarantined>;
  /** What the venue says was traded since listing, in millionths of a contract by market. Undefined where it does not say. */
  volumes?(stop: AbortSignal): Promise<ReadonlyMap<string, bigint> | undefined>;
  /** Reads a span of time again. What is known already changes nothing. */
  backfill(from: number, to: number, stop: AbortSignal): AsyncIterable<SourceBatch | Quarantined>;
}
