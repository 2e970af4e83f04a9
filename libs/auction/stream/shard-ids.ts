import { isUuid, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { MISMATCH, type Decoder } from '#libs/edge/decoding/decode.js';
import type { IdKind } from '#libs/edge/endpoint.js';
import { SHARDS } from '../protocol/routing.js';

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
