import type { Instant } from '#libs/base/instant.js';
import type { CellEvent, OrderEvent, TimerEvent } from './events.js';
import { evolveOrder } from './evolve.js';
import { FrozenMap } from './frozen-map.js';
import { emptyHoldings, evolveHoldings, type Holdings } from './holdings.js';
import { isTerminal, type OrderState } from './order.js';
import type { VenueId } from './venues.js';

export interface CancelTimer {
  readonly timer: string;
  readonly due_at?: Instant;
  readonly venue?: VenueId;
  readonly connection_id?: string;
  readonly grace_ms?: number;
  readonly attachment?: number;
}

/** The state that a cell keeps for one user. It is immutable: each event makes a new one. */
export interface UserState {
  readonly live: FrozenMap<OrderState>;
  /** Orders that ended lately. The older half is dropped when the younger half is full. */
  readonly ended: { readonly young: FrozenMap<OrderState>; readonly old: FrozenMap<OrderState> };
  readonly holdings: Holdings;
  readonly timers: ReadonlyMap<string, CancelTimer>;
}

/** How many ended orders each half keeps. */
const HALF_KEEPS = 1_000;

const noOrders = FrozenMap.of<OrderState>();

export const emptyUser: UserState = {
  live: noOrders,
  ended: { young: noOrders, old: noOrders },
  holdings: emptyHoldings,
  timers: new Map(),
};

/** Undefined if the order is unknown or ended long ago. Such an order is recalled before another event of it follows. */
export function orderOf({ live, ended }: UserState, order_id: string): OrderState | undefined {
  return live.get(order_id) ?? ended.young.get(order_id) ?? ended.old.get(order_id);
}

export function evolveUser(user: UserState, event: CellEvent): UserState {
  if (isTimerEvent(event)) return { ...user, timers: evolveTimers(user.timers, event) };
  if (event.type === 'ORDER_RECALLED') {
    const isInMemory = orderOf(user, event.order.terms.order_id) !== undefined;
    return isInMemory ? user : withOrder(user, event.order);
  }
  const holdings = evolveHoldings(user.holdings, event, (id) => orderOf(user, id));
  const moved = holdings === user.holdings ? user : { ...user, holdings };
  return isOrderEvent(event) ? withOrder(moved, evolveOrder(orderOf(user, event.order_id), event)) : moved;
}

export function isOrderEvent(event: CellEvent): event is OrderEvent {
  return 'order_id' in event;
}

function isTimerEvent(event: CellEvent): event is TimerEvent {
  return event.type === 'CANCEL_TIMER_ARMED' || event.type === 'CANCEL_TIMER_ENDED';
}

function withOrder(user: UserState, order: OrderState): UserState {
  const { order_id } = order.terms;
  const { young, old } = user.ended;
  if (!isTerminal(order)) {
    const ended = { young: young.without(order_id), old: old.without(order_id) };
    return { ...user, live: user.live.with(order_id, order), ended };
  }
  const live = user.live.without(order_id);
  const isFull = young.size >= HALF_KEEPS && !young.has(order_id);
  const ended = isFull
    ? { young: noOrders.with(order_id, order), old: young }
    : { young: young.with(order_id, order), old: old.without(order_id) };
  return { ...user, live, ended };
}

function evolveTimers(
  timers: ReadonlyMap<string, CancelTimer>,
  event: TimerEvent,
): ReadonlyMap<string, CancelTimer> {
  const after = new Map(timers);
  if (event.type === 'CANCEL_TIMER_ENDED') {
    after.delete(event.timer);
    return after;
  }
  const { timer, due_at, venue, connection_id, grace_ms, attachment } = event;
  return after.set(timer, {
    timer,
    ...(due_at === undefined ? {} : { due_at }),
    ...(venue === undefined ? {} : { venue }),
    ...(connection_id === undefined ? {} : { connection_id }),
    ...(grace_ms === undefined ? {} : { grace_ms }),
    ...(attachment === undefined ? {} : { attachment }),
  });
}
