import type { Refused } from '#libs/auction/stream/ports.js';

export const INVALID = fault(400, 'invalid_json');
export const OUT_OF_RANGE = fault(400, 'invalid_request');
export const UNAUTHORIZED = fault(401, 'unauthorized');
export const FORBIDDEN = fault(403, 'forbidden');
export const NO_SUBSCRIPTION = fault(404, 'not_found');
export const TOO_MANY_SUBSCRIPTIONS = fault(429, 'stream_subscription_limit');
export const FAILED = fault(500, 'internal_error');
export const SESSION_UNKNOWN = fault(503, 'owner_routing_unavailable');
export const NOT_HERE_YET = fault(503, 'auction_owner_unavailable');

function fault(status: number, error: string): Refused {
  return { status, error };
}
