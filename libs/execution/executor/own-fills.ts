import { plusMillis, type Instant } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ObservedFill, ObservedOrder } from '../protocol/cell-protocol.js';
import { VenueUnavailable, type VenueAccount } from '../venues/port.js';

/** Fills are read from this long before the send, because clocks differ. */
const BEFORE_MILLIS = 5_000;
const TRIES = 3;
const AGAIN_MILLIS = 100;

export function beforeSend(sent_at: Instant): Instant {
  return plusMillis(sent_at, -BEFORE_MILLIS);
}

/**
 * The fills of an order that the venue shows. There may be fewer than the order counts, if fills lag or cannot be
 * read. The cell compares, and asks again.
 */
export async function fillsOf(
  account: Pick<VenueAccount, 'fills'>,
  order: Pick<ObservedOrder, 'exchange_order_id' | 'filled'>,
  since: Instant,
  clock: Clock,
): Promise<readonly ObservedFill[]> {
  if (order.filled === 0n) return [];
  let found: readonly ObservedFill[] = [];
  for (let tries = 1; tries <= TRIES; tries += 1) {
    try {
      found = (await account.fills(beforeSend(since))).filter(
        ({ exchange_order_id: id }) => id === order.exchange_order_id,
      );
    } catch (error) {
      if (!(error instanceof VenueUnavailable)) throw error;
    }
    if (found.reduce((sum, { fill }) => sum + fill.quantity, 0n) >= order.filled) break;
    if (tries < TRIES) await pause(clock, AGAIN_MILLIS);
  }
  return found;
}
