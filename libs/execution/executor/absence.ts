import type { Instant } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask, ObservedOrder } from '../protocol/cell-protocol.js';
import type { VenueCall } from '../rules/order.js';
import { VenueUnavailable, type OrderName, type Venue, type VenueAccount } from '../venues/port.js';
import { beforeSend } from './own-fills.js';

export type QueryTask = Extract<ExecutorTask, { readonly kind: 'query' }>;

export type OrderFinding =
  | { readonly what: 'found'; readonly order: ObservedOrder; readonly call: VenueCall }
  | { readonly what: 'absent'; readonly call: VenueCall }
  | { readonly what: 'unknown'; readonly reason: string; readonly call?: VenueCall };

const BETWEEN_MILLIS = 1_000;

/**
 * Finds out what became of an order in doubt. It is absent only if a healthy venue does not know its id, a second
 * apart and after the visibility window, and no fill since before the send belongs to it. Errors, empty pages and not
 * resting prove nothing.
 */
export async function findOrder(
  { venue, account, clock }: { readonly venue: Venue; readonly account: VenueAccount; readonly clock: Clock },
  task: QueryTask,
): Promise<OrderFinding> {
  const name: OrderName = {
    ...{ venue_client_id: task.venue_client_id, terms: task.terms },
    ...(task.exchange_order_id === undefined ? {} : { exchange_order_id: task.exchange_order_id }),
  };
  try {
    const first = await findOnce(venue, account, name, task.since);
    if (first.what !== 'absent') return first;
    // The time of the send is not known here, only that it is past.
    await pause(clock, venue.visibilityMillis);
    const second = await findOnce(venue, account, name, task.since);
    if (second.what !== 'absent') return second;
    await pause(clock, BETWEEN_MILLIS);
    return await findOnce(venue, account, name, task.since);
  } catch (error) {
    if (error instanceof VenueUnavailable) return { what: 'unknown', reason: error.message };
    throw error;
  }
}

async function findOnce(
  venue: Venue,
  account: VenueAccount,
  name: OrderName,
  since: Instant,
): Promise<OrderFinding> {
  const { exchange_active: isHealthy } = await venue.markets.status();
  const { outcome: order, call } = await account.order(name);
  if (order !== undefined) return { what: 'found', order, call };
  if (!isHealthy) return { what: 'unknown', reason: 'the venue is not active', call };
  const filled = await filledOrder(account, name, since);
  return filled === undefined ? { what: 'absent', call } : { what: 'found', order: filled, call };
}

/**
 * The order, if the account has a fill of it. Matched by our id if the fill has it, else by asking for the order of
 * each possible fill. Never by outcome or side: a trade across both outcomes may show either.
 */
async function filledOrder(
  account: VenueAccount,
  name: OrderName,
  since: Instant,
): Promise<ObservedOrder | undefined> {
  const { venue_client_id, exchange_order_id: known, terms } = name;
  const fills = (await account.fills(beforeSend(since))).filter(
    ({ market_id }) => market_id === terms.market_id,
  );
  const candidates = new Set(
    fills
      .filter(({ venue_client_id: id }) => id === undefined || id === venue_client_id)
      .map(({ exchange_order_id: id }) => id),
  );
  for (const exchange_order_id of candidates) {
    const { outcome: order } = await account.order({ ...name, exchange_order_id });
    const own = fills.filter(({ exchange_order_id: id }) => id === exchange_order_id);
    const isOurs =
      exchange_order_id === known ||
      order?.venue_client_id === venue_client_id ||
      own.some(({ venue_client_id: id }) => id === venue_client_id);
    if (isOurs)
      return (
        order ??
        goneAfterFills(
          name,
          exchange_order_id,
          own.map(({ fill }) => fill.quantity),
        )
      );
    if (order === undefined)
      throw new VenueUnavailable('the venue shows a fill of an order that it does not show');
  }
  return undefined;
}

/** The venue no longer shows an order that traded. Only its fills are certain. */
function goneAfterFills(
  { venue_client_id, terms }: OrderName,
  exchange_order_id: string,
  quantities: readonly bigint[],
): ObservedOrder {
  const filled = quantities.reduce((sum, quantity) => sum + quantity, 0n);
  return {
    ...{ exchange_order_id, venue_client_id, filled, quantity: terms.quantity, price: terms.price },
    status: filled >= terms.quantity ? 'filled' : 'cancelled',
  };
}
