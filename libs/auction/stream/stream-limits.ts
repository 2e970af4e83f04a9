import { CONNECTION_LIMITS, type ConnectionLimits } from '#libs/socket/slow-reader.js';
import { isUuid, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { type Decoder, MISMATCH } from '#libs/edge/decoding/decode.js';
import type { IdKind } from '#libs/edge/endpoint.js';
import { SHARDS } from '../protocol/routing.js';

/** Limits of one connection to the auctions' stream. */
export interface StreamLimits extends ConnectionLimits {
  readonly subscriptions: number;
  /** Per second, and at once. Unsubscribing needs no limit of its own. */
  readonly subscribesPerSecond: number;
  readonly maxGraceMillis: number;
  readonly snapshotPart: number;
  /** How many earlier entries are read at once for a subscription with `after_seq`. */
  readonly timelinePage: number;
  /** The most events between two tokens, and the longest time. */
  readonly tokenEvents: number;
  readonly tokenMillis: number;
  /** How long a resumed connection waits for this gateway to catch up with the earlier one. */
  readonly catchUpMillis: number;
  /** How much is read at once, for one connection, of the history that the feed has forgotten. */
  readonly historyPageEvents: number;
  readonly historyPageBytes: number;
  /** How many connections do that at the same time. */
  readonly recallsAtOnce: number;
}

export const STREAM_LIMITS: StreamLimits = {
  ...CONNECTION_LIMITS,
  subscriptions: 64,
  subscribesPerSecond: 50,
  maxGraceMillis: 30_000,
  snapshotPart: 200,
  timelinePage: 200,
  tokenEvents: 100,
  tokenMillis: 1_000,
  catchUpMillis: 5_000,
  historyPageEvents: 5_000,
  historyPageBytes: 4 * 1024 * 1024,
  recallsAtOnce: 3,
};

const SHARD_UUID = `^[0-${SHARDS - 1}][0-9a-f]{7}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`;

function isOfAShard(id: string): boolean {
  return isUuid(id) && id.charCodeAt(0) < 0x30 + SHARDS;
}

/** The id of an auction or quote in a body: a canonical UUID whose first digit is a shard. */
export const shardId: Decoder<string> = {
  decode: (value) => (typeof value === 'string' && isOfAShard(value) ? value : MISMATCH),
  describe: () => ({ ...uuid.describe(), pattern: SHARD_UUID }),
};

/** The same in a path. */
export function shardUuid(fault: string): IdKind {
  return { fault, accepts: isOfAShard, describe: () => shardId.describe() };
}
