import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { evolveOrder } from '../rules/evolve.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import type { CellFeed } from './cell-feed.js';
import type { SocketLimits } from './socket-limits.js';
import {
  externalParts,
  isFirst,
  isOrderEvent,
  stepOf,
  type JournaledEvent,
  type ToldChange,
} from './told.js';
import type { UserEvents } from './user-events.js';

/** A user's live orders at a position of the cell's journal. */
export interface LiveOrders {
  readonly position: number;
  readonly orders: readonly OrderState[];
}

export interface FoldPorts {
  readonly feed: CellFeed;
  readonly events: UserEvents;
  readonly clock: Clock;
  readonly limits: SocketLimits;
  readonly onFault: (error: unknown) => void;
}

/** Receives each change that a user is sent. It must handle its own failures. */
export interface FoldListener {
  onTold(told: ToldChange): void;
  /** The state of the orders is no longer known. A new fold has to begin. */
  onBroken(): void;
}

const RETRY_MILLIS = 50;

/** One user's orders, folded from the journal after the cell's answer, for all of the user's sockets. */
export class UserFold {
  private readonly orders = new Map<string, OrderState>();
  /** Ended orders, the latest last. They are kept in case late events come. */
  private readonly ended = new Set<string>();
  private readonly listeners = new Set<FoldListener>();
  private recent: ToldChange[] = [];
  private recentAfter: number;
  private readonly waiting: JournaledEvent[] = [];
  private done: number;
  private isLoading = false;
  private broken = false;
  private readonly unlisten: () => void;

  constructor(
    private readonly ports: FoldPorts,
    readonly user: string,
    readonly cell: number,
    begin: LiveOrders,
    unheard: readonly JournaledEvent[],
  ) {
    for (const state of begin.orders) this.orders.set(state.terms.order_id, state);
    this.done = begin.position;
    this.recentAfter = begin.position;
    this.unlisten = ports.feed.listen(user, (events) => {
      this.take(events);
    });
    this.take(unheard);
  }

  /** All events up to here were passed on. */
  get position(): number {
    if (this.waiting.length > 0 || this.isLoading) return this.done;
    return Math.max(this.done, this.ports.feed.position(this.cell));
  }

  get isBroken(): boolean {
    return this.broken;
  }

  /** Newest first. */
  live(): OrderState[] {
    const states = [...this.orders.values()].filter((state) => !isTerminal(state));
    return states.sort((one, other) => (one.accepted_at < other.accepted_at ? 1 : -1));
  }

  isLive(orderId: string): boolean {
    const state = this.orders.get(orderId);
    return state !== undefined && !isTerminal(state);
  }

  listen(listener: FoldListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** The changes after `position`, or undefined if they are no longer kept. Use them before the next await. */
  since(position: number): readonly ToldChange[] | undefined {
    if (position < this.recentAfter) return undefined;
    return this.recent.filter((told) => told.position > position);
  }

  stop(): void {
    this.unlisten();
    this.broken = true;
    this.listeners.clear();
  }

  private take(events: readonly JournaledEvent[]): void {
    this.waiting.push(...events.filter(({ position }) => position > this.done));
    this.goOn();
  }

  private goOn(): void {
    while (!this.isLoading && !this.broken) {
      const [next] = this.waiting;
      if (next === undefined) return;
      if (this.lacks(next)) {
        this.isLoading = true;
        void this.load(next);
        return;
      }
      this.waiting.shift();
      this.apply(next);
    }
  }

  private lacks({ event }: JournaledEvent): boolean {
    return isOrderEvent(event) && !isFirst(event) && !this.orders.has(event.order_id);
  }

  private apply(placed: JournaledEvent): void {
    const { position, event } = placed;
    try {
      const parts = isOrderEvent(event) ? this.step(event) : externalParts(event);
      if (parts.length > 0) this.remember({ position, parts });
      this.done = position;
      if (parts.length > 0) for (const listener of [...this.listeners]) listener.onTold({ position, parts });
    } catch (error) {
      this.ports.onFault(error);
      this.break();
    }
  }

  private step(event: Parameters<typeof stepOf>[1]): ToldChange['parts'] {
    const { state, parts } = stepOf(this.orders.get(event.order_id), event);
    this.orders.set(event.order_id, state);
    this.ended.delete(event.order_id);
    if (isTerminal(state)) this.ended.add(event.order_id);
    const [oldest] = this.ended;
    if (oldest !== undefined && this.ended.size > this.ports.limits.endedOrders) {
      this.ended.delete(oldest);
      this.orders.delete(oldest);
    }
    return parts;
  }

  private remember(told: ToldChange): void {
    this.recent.push(told);
    const { recentChanges } = this.ports.limits;
    if (this.recent.length < 2 * recentChanges) return;
    this.recentAfter = this.recent[recentChanges - 1]?.position ?? this.recentAfter;
    this.recent = this.recent.slice(recentChanges);
  }

  /** Loads an order that ended earlier and is no longer kept, because a late event came. */
  private async load({ event, position }: JournaledEvent): Promise<void> {
    try {
      const past = isOrderEvent(event) ? await this.pastOf(event.order_id, position - 1) : undefined;
      if (this.broken) return;
      if (past === undefined) {
        this.break();
        return;
      }
      this.orders.set(past.terms.order_id, past);
      this.ended.add(past.terms.order_id);
    } catch (error) {
      this.ports.onFault(error);
      this.break();
    } finally {
      this.isLoading = false;
    }
    this.goOn();
  }

  private async pastOf(orderId: string, position: number): Promise<OrderState | undefined> {
    const { events, clock, limits } = this.ports;
    const until = clock.monotonicNanos() + BigInt(limits.catchUpMillis) * NANOS_PER_MILLI;
    for (;;) {
      const past = await events.ofOrder(orderId, this.cell, position);
      if (past !== undefined) return foldOf(past);
      if (this.broken || clock.monotonicNanos() >= until) return undefined;
      await pause(clock, RETRY_MILLIS);
    }
  }

  private break(): void {
    const listeners = [...this.listeners];
    this.stop();
    for (const listener of listeners) listener.onBroken();
  }
}

/** Builds an order from all its events. */
export function foldOf(events: readonly JournaledEvent[]): OrderState | undefined {
  let state: OrderState | undefined;
  for (const { event } of events) if (isOrderEvent(event)) state = evolveOrder(state, event);
  return state;
}
