import type { Reply } from '#libs/edge/reply/reply.js';
import type { FaultKind } from '#libs/edge/dialect/fault.js';
import { INTERNAL_HEADERS } from '#libs/platform/internal-server/internal-host.js';
import { strictDialect } from '#libs/edge/dialect/strict-dialect.js';
import type { Dialect } from '#libs/edge/dialect/dialect.js';

/**
 * How auctions speak HTTP. Every path under /v1 wants a token, known or not, so that no caller can find out which
 * paths exist.
 */
export const AUCTION_DIALECT: Dialect = strictDialect({
  internalHeaders: INTERNAL_HEADERS,
  isGuarded: (path) => path === '/v1' || path.startsWith('/v1/'),
  codes: {
    'internal-header': [403, 'internal_routing_headers_forbidden'],
    unavailable: [503, 'owner_routing_unavailable'],
  },
});

function refuse(kind: FaultKind): Reply {
  return AUCTION_DIALECT.refuse({ kind });
}

/** Refusals of handlers in the gateway's own codes. */
export const NOT_FOUND = refuse('not-found');
export const FORBIDDEN = refuse('forbidden');
export const UNAUTHORIZED = refuse('unauthorized');
export const MALFORMED_REQUEST = refuse('malformed-request');
export const UPGRADE_REQUIRED = refuse('upgrade-required');
export const INTERNAL_ERROR = refuse('internal-error');
export const AUTHORITY_UNAVAILABLE = refuse('unavailable');
