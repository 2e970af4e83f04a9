import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import type { Reply } from '#libs/edge/reply/reply.js';
import { venueNamed } from '../rules/venues.js';

/** Since the version that the service begins with, until a year later. */
const HEADERS = { deprecation: '@1793491200', sunset: 'Mon, 01 Nov 2027 00:00:00 GMT' } as const;
const FIELDS = ['max_slippage', 'orderbook_levels'] as const;

export function isAlias(exchange: unknown): boolean {
  return typeof exchange === 'string' && venueNamed(exchange)?.is_alias === true;
}

/** Whether a body uses what is going away. */
export function usesDeprecated(record: JsonRecord): boolean {
  return isAlias(record.exchange_id) || FIELDS.some((name) => (record[name] ?? undefined) !== undefined);
}

/** Refused or not: the caller should learn of it either way. */
export function marked(reply: Reply, isDeprecated: boolean): Reply {
  return isDeprecated ? { ...reply, headers: { ...reply.headers, ...HEADERS } } : reply;
}
