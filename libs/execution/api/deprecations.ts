import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { venueNamed } from '../rules/venues.js';

/** Deprecated since the first version of the service, and removed one year later. */
const HEADERS = { deprecation: '@1793491200', sunset: 'Mon, 01 Nov 2027 00:00:00 GMT' } as const;
const FIELDS = ['max_slippage', 'orderbook_levels'] as const;

export function isAlias(exchange: unknown): boolean {
  return typeof exchange === 'string' && venueNamed(exchange)?.is_alias === true;
}

/** Whether a body uses a deprecated field or alias. */
export function usesDeprecated(record: JsonRecord): boolean {
  return isAlias(record.exchange_id) || FIELDS.some((name) => (record[name] ?? undefined) !== undefined);
}

/** Adds the deprecation headers, also to refusals. */
export function marked(reply: Reply, isDeprecated: boolean): Reply {
  return isDeprecated ? { ...reply, headers: { ...reply.headers, ...HEADERS } } : reply;
}
