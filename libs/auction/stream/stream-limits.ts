import { CONNECTION_LIMITS, type ConnectionLimits } from '#libs/socket/slow-reader.js';
import { isUuid, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { type Decoder, MISMATCH } from '#libs/edge/decoding/decode.js';
import type { IdKind } from '#libs/edge/endpoint.js';
import { SHARDS } from '../protocol/routing.js';

/** What else one connection of the auctions' stream may hold, ask for, or keep waiting. */
export interface StreamLimits extends ConnectionLimits {
  readonly subscriptions: number;
  /** A second, and at once. Unsubscribing needs no limit of its own. */
  readonly subscribesPerSecond: number;
  readonly maxGraceMillis: number;
  readonly snapshotPart: number;
  /** Earlier entries that are read at once for a subscription with `after_seq`. */
  readonly timelinePage: number;
  /** Events between two tokens, and the time between them. */
  readonly tokenEvents: number;
  readonly tokenMillis: number;
  /** How long a resumed connection waits until this gateway is as far as the earlier one, and the like. */
  readonly catchUpMillis: number;
  /** What is read at once, for one connection, of what the feed has forgotten. */
  readonly historyPageEvents: number;
  readonly historyPageBytes: number;
  /** Connections for which that is done at the same time. */
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

/** The id of an auction or a quote within a body: a canonical UUID whose first digit names one of the shards. */
export const shardId: Decoder<string> = {
  decode: (value) => (typeof value === 'string' && isOfAShard(value) ? value : MISMATCH),
  describe: () => ({ ...uuid.describe(), pattern: SHARD_UUID }),
};

/** The same within a path. */
export function shardUuid(fault: string): IdKind {
  return { fault, accepts: isOfAShard, describe: () => shardId.describe() };
}
