import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { Outbox } from '#libs/socket/outbox.js';
import type { OrderState } from '../rules/order.js';
import type { SocketLimits } from './socket-limits.js';
import type { OrderSubscription, OrderSubscriptions } from './subscriptions.js';
import {
  externalParts,
  isFirst,
  isOrderEvent,
  stepOf,
  type JournaledEvent,
  type ToldChange,
} from './told.js';
import { foldOf, type UserFold } from './user-fold.js';
import type { UserEvents } from './user-events.js';

export interface MissedChangesPorts {
  readonly outbox: Outbox<OrderSubscription>;
  readonly subscriptions: OrderSubscriptions;
  readonly fold: UserFold;
  readonly events: UserEvents;
  readonly clock: Clock;
  readonly limits: SocketLimits;
  readonly isStopped: () => boolean;
}

const RETRY_MILLIS = 50;

/**
 * Sends a resumed connection what it missed: first from the store, then from the fold's recent changes, no faster
 * than the client reads.
 */
export class MissedChanges {
  private readonly orders = new Map<string, OrderState>();

  constructor(private readonly ports: MissedChangesPorts) {}

  /**
   * False if the store no longer has the missed events. Otherwise all subscriptions are live, unless it was stopped.
   */
  async run(): Promise<boolean> {
    const { outbox, subscriptions, fold, isStopped } = this.ports;
    for (;;) {
      await outbox.room();
      if (isStopped()) return true;
      const catchingUp = subscriptions.list().filter(({ phase }) => phase === 'CATCHING_UP');
      if (catchingUp.length === 0) return true;
      const from = Math.min(...catchingUp.map(({ position }) => position));
      const remembered = fold.since(from);
      if (remembered !== undefined) {
        if (!this.sendAll(remembered)) continue;
        // The store may be ahead of what this gateway has received of the journal.
        for (const subscription of catchingUp)
          subscriptions.goLive(subscription, Math.max(subscription.position, fold.position));
        return true;
      }
      if (!(await this.sendPast(from))) return isStopped();
    }
  }

  /** False if the client has to read first. */
  private sendAll(all: readonly ToldChange[]): boolean {
    for (const told of all) {
      if (!this.ports.outbox.hasRoom) return false;
      this.ports.subscriptions.tell(told, 'CATCHING_UP');
    }
    return true;
  }

  private async sendPast(from: number): Promise<boolean> {
    const { subscriptions, isStopped, limits } = this.ports;
    const page = await this.readPage(
      (events, { user, cell }) => events.after(user, cell, from, limits.historyPage),
      from,
    );
    if (page === undefined) return false;
    for (const placed of page.events) {
      const parts = await this.partsOf(placed);
      if (parts === undefined) return false;
      if (isStopped()) return true;
      subscriptions.tell({ position: placed.position, parts }, 'CATCHING_UP');
    }
    for (const subscription of subscriptions.list()) {
      if (subscription.phase === 'CATCHING_UP')
        subscription.position = Math.max(subscription.position, page.upTo);
    }
    return true;
  }

  private async partsOf({ event, position }: JournaledEvent): Promise<ToldChange['parts'] | undefined> {
    if (!isOrderEvent(event)) return externalParts(event);
    const { order_id: id } = event;
    let before = this.orders.get(id);
    if (before === undefined && !isFirst(event)) {
      const past = await this.ports.events.ofOrder(id, this.ports.fold.cell, position - 1);
      before = past === undefined ? undefined : foldOf(past);
      if (before === undefined) return undefined;
    }
    const { state, parts } = stepOf(before, event);
    this.orders.set(id, state);
    return parts;
  }

  /** Reads a page that gets further than `from`. Waits a limited time for a lagging store. */
  private async readPage(
    ask: (events: UserEvents, fold: UserFold) => ReturnType<UserEvents['after']>,
    from: number,
  ): ReturnType<UserEvents['after']> {
    const { events, fold, clock, limits, isStopped } = this.ports;
    const until = clock.monotonicNanos() + BigInt(limits.catchUpMillis) * NANOS_PER_MILLI;
    for (;;) {
      const page = await ask(events, fold);
      if (page === undefined || page.upTo > from) return page;
      if (isStopped() || clock.monotonicNanos() >= until) return undefined;
      await pause(clock, RETRY_MILLIS);
    }
  }
}
