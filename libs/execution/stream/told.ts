import { printMicros } from '../rules/micros.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';
import { evolveOrder } from '../rules/evolve.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import { fillRecord, orderRecord, printTime } from '../rules/record.js';
import { changeReason } from '../rules/timeline.js';
import type { VenueId } from '../rules/venues.js';
import type { SocketMessage } from './server-messages.js';

/** An event with its place in the journal of its cell. */
export interface JournaledEvent {
  readonly position: number;
  readonly event: CellEvent;
}

/** One message of the channel, rendered once for all subscriptions of the user. */
export interface ToldPart {
  readonly type: Extract<SocketMessage, 'order_update' | 'fill' | 'external'>;
  readonly venue: VenueId;
  /** The order whose present state makes the message superfluous; undefined where nothing does. */
  readonly superseded: string | undefined;
  /** The members that are the same for every subscription, as JSON text without the braces. */
  readonly members: string;
}

/** What a user is told of one event. */
export interface ToldChange {
  readonly position: number;
  readonly parts: readonly ToldPart[];
}

export function isOrderEvent(event: CellEvent): event is OrderEvent {
  return 'order_id' in event;
}

/** Whether it makes an order, so that nothing has to be known before. */
export function isFirst({ type }: OrderEvent): boolean {
  return type === 'ORDER_ACCEPTED' || type === 'EXTERNAL_ORDER_FOUND';
}

export interface Step {
  readonly state: OrderState;
  readonly parts: readonly ToldPart[];
}

/** What an event makes of its order, and what is told of it. A fill is told before the state that contains it. */
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

/** What is told of an event that is of no order. */
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
