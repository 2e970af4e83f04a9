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
 * What became of an order in doubt. It is absent only if a healthy venue has answered twice, a second apart and past its window of
 * visibility, that it does not know the order by its own id, and no fill of the account since before the send is one of it. An error, an
 * empty page, or that it does not rest, proves nothing.
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
    const first = await lookOnce(venue, account, name, task.since);
    if (first.what !== 'absent') return first;
    // When it was sent is not known here, only that this was before now.
    await pause(clock, venue.visibilityMillis);
    const second = await lookOnce(venue, account, name, task.since);
    if (second.what !== 'absent') return second;
    await pause(clock, BETWEEN_MILLIS);
    return await lookOnce(venue, account, name, task.since);
  } catch (error) {
    if (error instanceof VenueUnavailable) return { what: 'unknown', reason: error.message };
    throw error;
  }
}

async function lookOnce(
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
 * The order, if a fill of the account is one of it: by its own id where the venue tells that with the fill, and else by asking for the
 * order of every fill that could be. Never by outcome or side: a trade across both outcomes shows either.
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

/** It traded, and the venue shows it no more: what is certain are its fills. */
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
