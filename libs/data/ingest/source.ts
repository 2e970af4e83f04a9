import type { MarketDataEvent } from '../rules/events.js';

/** Events of one provider or label, in the order of their source. Any of them may come again, or late. */
export interface SourceBatch {
  readonly events: readonly MarketDataEvent[];
  /** The position after these events, in the source's own format. It is stored once the whole batch is durable. */
  readonly cursor: string;
  /** The time up to which the source is complete: its last good poll or heartbeat. Microseconds. */
  readonly asOf?: number;
  /** The source had nothing more when this was read. */
  readonly isCaughtUp: boolean;
  /** The time from which the source is complete, once known. Microseconds; 0 if it has given its whole history. */
  readonly reachesFrom?: number;
  /** Called once the whole batch is applied or refused. */
  readonly onApplied?: () => void;
}

/**
 * A response body that breaks the venue's own format. Nothing in it may be published; the provider counts as stale until a good
 * body arrives.
 */
export interface Quarantined {
  readonly quarantined: string;
  readonly body: string;
}

/** A stream of events of one provider from one source. */
export interface SourceFeed {
  readonly source: 'seed' | 'recorded' | 'practice';
  /** The provider, or `labels` for games and ticks. It selects the journal. */
  readonly of: string;
  /**
   * Yields everything after the cursor and ends only when stopped. Throws if the source cannot be reached; it is then followed
   * again from its last stored cursor.
   */
  follow(cursor: string | undefined, stop: AbortSignal): AsyncIterable<SourceBatch | Quarantined>;
  /** The volumes since listing that the venue reports, in millionths of a contract by market. Undefined if it reports none. */
  volumes?(stop: AbortSignal): Promise<ReadonlyMap<string, bigint> | undefined>;
  /** Reads a span of time again. Events that are already known change nothing. */
  backfill(from: number, to: number, stop: AbortSignal): AsyncIterable<SourceBatch | Quarantined>;
}
