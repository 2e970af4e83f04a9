import { isUuid } from './decode-scalars.js';
import type { IdKind } from './endpoint.js';

export const SHARDS = 3;

/** A canonical UUID whose first digit names one of the shards. */
export function shardUuid(fault: string): IdKind {
  return { fault, accepts: (segment) => isUuid(segment) && segment.charCodeAt(0) < 0x30 + SHARDS };
}

export function anyUuid(fault: string): IdKind {
  return { fault, accepts: isUuid };
}
