import type { CellEvent, OrderEvent } from '../rules/events.js';
import { evolveOrder } from '../rules/evolve.js';
import type { OrderState } from '../rules/order.js';
import { isOfOrder, makesOrder, type JournaledCellEvent } from './decoded-batch.js';

/** An order before and after one event. */
export interface OrderStep {
  readonly before: OrderState | undefined;
  readonly after: OrderState;
}

export interface FoldedOrders {
  /** By position of the event. */
  readonly steps: ReadonlyMap<number, OrderStep>;
  /** Every order with an event in the batch, after its last event. */
  readonly orders: ReadonlyMap<string, OrderState>;
}

export interface KnownOrders {
  readonly recall: (id: string) => OrderState | undefined;
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, OrderState>>;
}

/** Continues from the orders before the batch. Only orders that are not remembered are read from the table. */
export async function foldOrders(
  events: readonly JournaledCellEvent[],
  known: KnownOrders,
): Promise<FoldedOrders> {
  const orderEvents = events.filter(isPlacedOrderEvent);
  const orders = await ordersBefore(orderEvents, known);
  const steps = new Map<number, OrderStep>();
  for (const { position, event } of orderEvents) {
    const before = orders.get(event.order_id);
    const after = evolveOrder(before, event);
    orders.set(event.order_id, after);
    steps.set(position, { before, after });
  }
  return { steps, orders };
}

/** A fill that is reported again changes nothing. */
export function countsFill({ before, after }: OrderStep): boolean {
  return after.fill_ids.length > (before?.fill_ids.length ?? 0);
}

async function ordersBefore(
  events: readonly JournaledCellEvent<OrderEvent>[],
  { recall, read }: KnownOrders,
): Promise<Map<string, OrderState>> {
  const found = new Map<string, OrderState>();
  const made = new Set<string>();
  const wanted = new Set<string>();
  for (const { event } of events) {
    const id = event.order_id;
    if (makesOrder(event)) made.add(id);
    if (made.has(id) || found.has(id) || wanted.has(id)) continue;
    const remembered = recall(id);
    if (remembered === undefined) wanted.add(id);
    else found.set(id, remembered);
  }
  for (const [id, order] of await read([...wanted])) found.set(id, order);
  return found;
}

function isPlacedOrderEvent(
  placed: JournaledCellEvent,
): placed is JournaledCellEvent<Extract<CellEvent, OrderEvent>> {
  return isOfOrder(placed.event);
}
