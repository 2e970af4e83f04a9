import { printMicros } from '../rules/micros.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';
import { evolveOrder } from '../rules/evolve.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import { fillRecord, orderRecord, printTime } from '../rules/record.js';
import { changeReason } from '../rules/timeline.js';
import type { VenueId } from '../rules/venues.js';
import type { SocketMessage } from './server-messages.js';

/** An event with its position in the cell's journal. */
export interface JournaledEvent {
  readonly position: number;
  readonly event: CellEvent;
}

/** One message of the channel, rendered once for all subscriptions of the user. */
export interface ToldPart {
  readonly type: Extract<SocketMessage, 'order_update' | 'fill' | 'external'>;
  readonly venue: VenueId;
  /** The order whose present state can replace the message. Undefined if none can. */
  readonly superseded: string | undefined;
  /** The fields shared by all subscriptions, as JSON text without the braces. */
  readonly members: string;
}

/** The messages that a user gets for one event. */
export interface ToldChange {
  readonly position: number;
  readonly parts: readonly ToldPart[];
}

export function isOrderEvent(event: CellEvent): event is OrderEvent {
  return 'order_id' in event;
}

/** Whether the event creates an order, so that no earlier state is needed. */
export function isFirst({ type }: OrderEvent): boolean {
  return type === 'ORDER_ACCEPTED' || type === 'EXTERNAL_ORDER_FOUND';
}

export interface Step {
  readonly state: OrderState;
  readonly parts: readonly ToldPart[];
}

/** The order after the event, and the messages about it. A fill comes before the state that includes it. */
export function stepOf(before: OrderState | undefined, event: OrderEvent): Step {
  const state = evolveOrder(before, event);
  const reason = changeReason(event, before, state);
  if (reason === undefined) return { state, parts: [] };
  const { venue, order_id: order } = state.terms;
  const parts: ToldPart[] = [];
  if (event.type === 'ORDER_FILLED') {
    const members = membersOf(fillRecord(state, event.fill));
    parts.push({ type: 'fill', venue, superseded: undefined, members });
  }
  const members = membersOf({ reason, order: orderRecord(state, 'row') });
  parts.push({ type: 'order_update', venue, superseded: isTerminal(state) ? undefined : order, members });
  return { state, parts };
}

/** The messages about an event without an order. */
export function externalParts(event: CellEvent): readonly ToldPart[] {
  if (event.type !== 'BALANCE_MOVED') return [];
  const { venue, movement, asset, amount, entry_id, occurred_at } = event;
  const members = membersOf({
    kind: movement === 'EXTERNAL_REDEMPTION' ? 'REDEMPTION' : 'TRANSFER',
    exchange_id: venue,
    asset,
    amount: printMicros(amount),
    entry_id,
    occurred_at: printTime(occurred_at),
  });
  return [{ type: 'external', venue, superseded: undefined, members }];
}

function membersOf(record: object): string {
  return JSON.stringify(record).slice(1, -1);
}
