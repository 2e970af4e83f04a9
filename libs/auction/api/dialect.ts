import { INTERNAL_HEADERS } from '#libs/platform/internal-server/internal-headers.js';
import { strictDialect } from '#libs/edge/dialect/strict-dialect.js';
import type { Dialect } from '#libs/edge/dialect/dialect.js';

/** How the auctions speak HTTP. Everything under /v1 wants a token, known or not, so that no caller learns what is there. */
export const AUCTION_DIALECT: Dialect = strictDialect({
  internalHeaders: INTERNAL_HEADERS,
  isGuarded: (path) => path === '/v1' || path.startsWith('/v1/'),
  codes: {
    'internal-header': [403, 'internal_routing_headers_forbidden'],
    unavailable: [503, 'owner_routing_unavailable'],
  },
});
