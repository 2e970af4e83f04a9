import type { Reply } from '#libs/edge/reply/reply.js';
import type { FaultKind } from '#libs/edge/dialect/fault.js';
import { AUCTION_DIALECT } from './dialect.js';

function refuse(kind: FaultKind): Reply {
  return AUCTION_DIALECT.refuse({ kind });
}

/** What handlers refuse in the words of the edge. */
export const NOT_FOUND = refuse('not-found');
export const FORBIDDEN = refuse('forbidden');
export const UNAUTHORIZED = refuse('unauthorized');
export const MALFORMED_REQUEST = refuse('malformed-request');
export const UPGRADE_REQUIRED = refuse('upgrade-required');
export const INTERNAL_ERROR = refuse('internal-error');
export const AUTHORITY_UNAVAILABLE = refuse('unavailable');
