import type { PlacedEvent } from './raw-events.js';
import { must } from './violation.js';

const PUNCTUAL = 'what is due is done';
/** The limit in a world without faults. */
const LATEST_MILLIS = 1_500;
const OF_ITS_TIME: ReadonlySet<string> = new Set([
  'AUCTION_CLOSED',
  'AUCTION_AWARDED',
  'AUCTION_NOT_AWARDED',
  'QUOTE_EXPIRED',
]);

/** In a world without faults: an event with an agreed time is written soon after it. */
export function mustBePunctual({ event: { type, at, auction_id: id } }: PlacedEvent, now: string): void {
  if (!OF_ITS_TIME.has(type)) return;
  const late = Date.parse(now) - Date.parse(at);
  must(late <= LATEST_MILLIS, PUNCTUAL, () => `${type} of ${id ?? ''} for ${at} is written at ${now}`);
}
