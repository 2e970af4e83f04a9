import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

const PUNCTUAL = 'what is due is done';
/** Where nothing goes wrong. */
const LATEST_MILLIS = 1_500;
const OF_ITS_TIME: ReadonlySet<string> = new Set([
  'AUCTION_CLOSED',
  'AUCTION_AWARDED',
  'AUCTION_NOT_AWARDED',
  'QUOTE_EXPIRED',
]);

/** In a world in which nothing goes wrong: what has a moment of its own is written soon behind it. */
export function mustBePunctual({ event: { type, at, auction_id: id } }: PlacedEvent, now: string): void {
  if (!OF_ITS_TIME.has(type)) return;
  const late = Date.parse(now) - Date.parse(at);
  must(late <= LATEST_MILLIS, PUNCTUAL, () => `${type} of ${id ?? ''} for ${at} is written at ${now}`);
}
