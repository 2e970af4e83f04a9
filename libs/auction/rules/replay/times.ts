import type { AuctionEvent } from '../events.js';
import { instantFromNanos, nanosFromInstant, type Instant } from '#libs/base/instant.js';

const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;

/** Whose time follows from the terms and the events before it, however late they are written down: the rules give the very instant. */
const OF_THEIR_OWN_TIME: ReadonlySet<AuctionEvent['type']> = new Set<AuctionEvent['type']>([
  'QUOTE_EXPIRED',
  'AUCTION_CLOSED',
  'AUCTION_AWARDED',
  'AUCTION_NOT_AWARDED',
  'AUCTION_COMPLETED',
]);

/** Instants compare as strings only where each of them has this form and names a moment that there is. */
export function isInstant(text: string): boolean {
  if (!FORM.test(text) || Number.isNaN(Date.parse(text))) return false;
  return instantFromNanos(nanosFromInstant(text)) === text;
}

/** An owner never tells an earlier time than it told before. `latest` is of all records before. */
export function objectionToTime(latest: Instant | undefined, { type, at }: AuctionEvent): string | undefined {
  if (latest === undefined || at >= latest || OF_THEIR_OWN_TIME.has(type)) return undefined;
  return `time runs back: something of ${latest} stands before it`;
}
