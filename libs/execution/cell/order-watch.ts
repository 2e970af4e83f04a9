import { type Instant, plusMillis } from '#libs/base/instant.js';
import { type Cancel, type Clock, repeat } from '#libs/platform/time/clock.js';
import { DeadlineScheduler } from '#libs/shard/deadline-scheduler.js';
import { backOffMillis } from '../rules/decide/report.js';
import {
  decideCancel,
  decideLateCancel,
  decideStall,
  decideUnsent,
  waitingSince,
} from '../rules/decide/cancel.js';
import { isUnplacedYet } from '../rules/decide/settle.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import { type CancelTimer, isOrderEvent, orderOf, type UserState } from '../rules/user.js';
import { VENUE_IDS, type VenueId } from '../rules/venues.js';
import { cellTask, type CellTask, UNAVAILABLE } from './cell-task.js';
import type { TaskDesk } from './task-desk.js';
import type { UserEntry } from './user-entry.js';
import type { Users } from './users.js';

/** Something that falls due for one user. */
interface Due {
  readonly entry: UserEntry;
  readonly what: 'send' | 'unsent' | 'expiry' | 'stall' | 'late-cancel' | 'ask' | 'timer';
  /** The id of an order, or the name of a timer. */
  readonly id: string;
}

export interface OrderWatchPorts {
  readonly clock: Clock;
  readonly users: Users;
  readonly desk: TaskDesk;
  readonly now: () => Instant;
  readonly submit: (task: CellTask) => boolean;
  readonly stalledAfterMillis: number;
  /** False while reports of gateways about connections may still be on their way to this process. */
  readonly isHearing: () => boolean;
}

const QUERY_AFTER_MILLIS = [0, 1_000, 2_000, 4_000, 8_000] as const;
const QUERY_EVERY_MILLIS = 15_000;
/** Time for a call that may still be under way when the cell starts. */
const GRACE_MILLIS = 5_000;
const RECONCILE_MILLIS = 15_000;
const CHECK_MILLIS = 1_000;
const SECOND_CHECK_MILLIS = 1_500;
/** An order that waits for the venue is queried again after this time. */
const FRESH_MILLIS = 60_000;

/** Keeps every order moving: queues tasks for executors, queries venues again, and ends orders at their deadlines. */
export class OrderWatch {
  private readonly deadlines: DeadlineScheduler<Due>;
  /** How often the venue was queried about an order in doubt. */
  private readonly queryCount = new Map<string, number>();
  private readonly queriedAt = new Map<string, Instant>();
  private readonly reconciledAt = new Map<string, Instant>();
  private readonly waiting = new Map<string, UserEntry>();
  private cancel: Cancel | undefined;

  constructor(private readonly ports: OrderWatchPorts) {
    const { clock, now } = ports;
    const onDue = (due: Due): void => {
      this.handleDue(due);
    };
    this.deadlines = new DeadlineScheduler<Due>({ clock, now, clockIsSound: () => true, onDue });
  }

  /** Resumes all open orders, timers and transfers. */
  start(): void {
    for (const entry of this.ports.users.all()) {
      for (const order of entry.head.live.values()) this.resume(entry, order);
      for (const { timer, due_at } of entry.head.timers.values())
        if (due_at !== undefined) this.deadlines.schedule(due_at, { entry, what: 'timer', id: timer });
      for (const { terms, status } of entry.head.holdings.transfers.values())
        if (status === 'PENDING' || status === 'IN_TRANSIT')
          this.transfer(entry, terms.venue, terms.transfer_id);
    }
    this.cancel = repeat(this.ports.clock, CHECK_MILLIS, () => {
      this.check();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel?.();
    this.deadlines.stop();
  }

  /** Handles an event that has become durable. */
  committed(event: CellEvent): void {
    const entry = this.ports.users.find(event.user_id);
    if (entry === undefined) return;
    if (event.type === 'CANCEL_TIMER_ARMED') {
      const { due_at, timer } = event;
      if (due_at !== undefined) this.deadlines.schedule(due_at, { entry, what: 'timer', id: timer });
    } else if (event.type === 'VENUE_LINKED') this.reconcile(entry, event.venue);
    else if (event.type === 'TRANSFER_HELD') this.transfer(entry, event.venue, event.terms.transfer_id);
    else if (isOrderEvent(event)) this.changed(entry, event);
  }

  /** Queries the venue about the order, with growing delays between the queries. */
  ask(entry: UserEntry, order: OrderState): void {
    const { order_id } = order.terms;
    const times = this.queryCount.get(order_id) ?? 0;
    const wait = QUERY_AFTER_MILLIS[times] ?? QUERY_EVERY_MILLIS;
    this.queryCount.set(order_id, times + 1);
    if (wait === 0) this.hand(entry, order, 'query');
    else this.in(wait, { entry, what: 'ask', id: order_id });
  }

  /** The order is no longer in doubt. The next query starts without a delay. */
  settled(order_id: string): void {
    this.queryCount.delete(order_id);
  }

  askNow(entry: UserEntry, order: OrderState): void {
    this.hand(entry, order, 'query');
  }

  /** Repeats a cancel, because the venue still has the order in its book. */
  cancelAgain(entry: UserEntry, order: OrderState): void {
    if (order.cancel !== undefined) this.hand(entry, order, 'cancel');
  }

  hand(entry: UserEntry, order: OrderState, kind: 'submit' | 'cancel' | 'amend' | 'query'): void {
    const { order_id, venue, market_id } = order.terms;
    if (kind === 'query') this.queriedAt.set(order_id, this.ports.now());
    this.ports.desk.add(entry, venue, market_id, { kind, order_id });
  }

  transfer(entry: UserEntry, venue: VenueId, transfer_id: string): void {
    this.ports.desk.add(entry, venue, ' transfers', { kind: 'transfer', transfer_id });
  }

  /** Queues a comparison of the whole account. */
  reconcile(entry: UserEntry, venue: VenueId): void {
    this.reconciledAt.set(`${entry.user_id}/${venue}`, this.ports.now());
    this.ports.desk.add(entry, venue, ' account', { kind: 'reconcile' });
  }

  transferAgain(entry: UserEntry, venue: VenueId, transfer_id: string): void {
    this.ports.clock.after(SECOND_CHECK_MILLIS, () => {
      this.transfer(entry, venue, transfer_id);
    });
  }

  /** Compares the account again, after events under way have had time to arrive. */
  reconcileSoon(entry: UserEntry, venue: VenueId): void {
    this.ports.clock.after(SECOND_CHECK_MILLIS, () => {
      this.reconcile(entry, venue);
    });
  }

  /** Ends every queued order that must not be sent any more. */
  endUnsent(isSwitchedOff: (order: OrderState, entry: UserEntry) => boolean): void {
    for (const entry of this.ports.users.all()) {
      for (const order of entry.head.live.values()) {
        if (order.status !== 'queued' || !isSwitchedOff(order, entry)) continue;
        this.decide(entry, order.terms.order_id, (current, at) =>
          isSwitchedOff(current, entry) ? decideUnsent(current, 'EXCHANGE_TRADING_HALTED', at) : [],
        );
      }
    }
  }

  private resume(entry: UserEntry, order: OrderState): void {
    this.schedule(entry, order);
    const status = order.cancel?.before ?? order.status;
    if (status === 'queued') this.hand(entry, order, 'submit');
    else if (status === 'submitting') this.in(GRACE_MILLIS, { entry, what: 'ask', id: order.terms.order_id });
    else if (status === 'pending_venue' || order.amend !== undefined) this.ask(entry, order);
    else if (order.cancel !== undefined) this.hand(entry, order, 'cancel');
    this.trackWaiting(entry, order);
  }

  private schedule(entry: UserEntry, { terms }: OrderState): void {
    const { order_id: id, not_after, expires_at } = terms;
    if (not_after !== undefined) this.deadlines.schedule(not_after, { entry, what: 'unsent', id });
    if (expires_at !== undefined) this.deadlines.schedule(expires_at, { entry, what: 'expiry', id });
  }

  private changed(entry: UserEntry, event: OrderEvent): void {
    const order = orderOf(entry.head, event.order_id);
    if (order === undefined) return;
    this.trackWaiting(entry, order);
    switch (event.type) {
      case 'ORDER_ACCEPTED':
        this.schedule(entry, order);
        this.hand(entry, order, 'submit');
        return;
      case 'SUBMISSION_REPEATED':
        this.in(backOffMillis(order.attempts), { entry, what: 'send', id: event.order_id });
        return;
      case 'SUBMISSION_DOUBTED':
        this.settled(event.order_id);
        this.ask(entry, order);
        return;
      case 'CANCEL_REQUESTED':
        if (event.not_after !== undefined)
          this.deadlines.schedule(event.not_after, { entry, what: 'late-cancel', id: event.order_id });
        if (!isUnplacedYet(order)) this.hand(entry, order, 'cancel');
        return;
      case 'ORDER_PLACED':
        if (order.cancel !== undefined) this.hand(entry, order, 'cancel');
        return;
      case 'AMEND_REQUESTED':
        this.hand(entry, order, 'amend');
        return;
      default:
        return;
    }
  }

  private trackWaiting(entry: UserEntry, order: OrderState): void {
    const { order_id: id } = order.terms;
    const since = waitingSince(order);
    if (since === undefined) {
      this.waiting.delete(id);
      if (isTerminal(order)) this.queryCount.delete(id);
      this.queriedAt.delete(id);
      return;
    }
    if (this.waiting.has(id)) return;
    this.waiting.set(id, entry);
    this.queriedAt.set(id, this.ports.now());
    this.deadlines.schedule(plusMillis(since, this.ports.stalledAfterMillis), { entry, what: 'stall', id });
  }

  private in(millis: number, due: Due): void {
    this.deadlines.schedule(plusMillis(this.ports.now(), millis), due);
  }

  private handleDue({ entry, what, id }: Due): void {
    if (what === 'timer') {
      const isOfConnection = entry.head.timers.get(id)?.connection_id !== undefined;
      if (isOfConnection && !this.ports.isHearing()) this.in(CHECK_MILLIS, { entry, what, id });
      else this.run(entry, (at) => decideTimer(entry.head, entry.user_id, id, at));
      return;
    }
    const order = orderOf(entry.head, id);
    if (order === undefined || isTerminal(order)) return;
    switch (what) {
      case 'send':
        this.hand(entry, order, 'submit');
        return;
      case 'ask':
        this.queryAgain(entry, order);
        return;
      case 'unsent':
        this.decide(entry, id, (current, at) => decideUnsent(current, 'COMMAND_EXPIRED', at));
        return;
      case 'expiry':
        this.decide(entry, id, (current, at) => expired(current, at));
        return;
      case 'late-cancel':
        this.decide(entry, id, (current, at) => decideLateCancel(current, at));
        return;
      case 'stall':
        this.stall(entry, id);
    }
  }

  private queryAgain(entry: UserEntry, order: OrderState): void {
    const isSending = order.status === 'submitting' || order.cancel?.before === 'submitting';
    // Only after a restart: the executor that was sending the order has not reported since.
    if (isSending) this.lost(entry, order.terms.order_id);
    else this.hand(entry, order, 'query');
  }

  /** Called when the executor that was sending the order is gone. Set by `ExecutorCalls`. */
  lost: (entry: UserEntry, order_id: string) => void = () => undefined;

  private stall(entry: UserEntry, id: string): void {
    const order = orderOf(entry.head, id);
    const since = order === undefined ? undefined : waitingSince(order);
    if (order === undefined || since === undefined || order.stalled_since !== undefined) return;
    const { stalledAfterMillis, now } = this.ports;
    const due = plusMillis(since, stalledAfterMillis);
    if (due > now()) {
      this.deadlines.schedule(due, { entry, what: 'stall', id });
      return;
    }
    this.decide(entry, id, (current, at) => decideStall(current, at, plusMillis(at, -stalledAfterMillis)));
    if (order.status !== 'submitting') this.askNow(entry, order);
  }

  private check(): void {
    const now = this.ports.now();
    const latest = plusMillis(now, -FRESH_MILLIS);
    for (const [id, entry] of this.waiting) {
      const order = orderOf(entry.head, id);
      if (order === undefined || (this.queriedAt.get(id) ?? now) > latest) continue;
      if (order.status !== 'queued' && order.status !== 'submitting') this.askNow(entry, order);
    }
    this.reconcileDue(plusMillis(now, -RECONCILE_MILLIS));
  }

  private reconcileDue(latest: Instant): void {
    for (const entry of this.ports.users.all()) {
      for (const venue of VENUE_IDS) {
        if (!entry.head.holdings.links.has(venue)) continue;
        const last = this.reconciledAt.get(`${entry.user_id}/${venue}`);
        if (last === undefined || last <= latest) this.reconcile(entry, venue);
      }
    }
  }

  private decide(
    entry: UserEntry,
    order_id: string,
    decide: (order: OrderState, at: Instant) => readonly OrderEvent[],
  ): void {
    this.run(entry, (at) => {
      const order = orderOf(entry.head, order_id);
      return order === undefined ? [] : decide(order, at);
    });
  }

  private run(_entry: UserEntry, decide: (at: Instant) => readonly CellEvent[]): void {
    const task = cellTask(
      (at) => ({ events: decide(at), reply: () => UNAVAILABLE }),
      () => undefined,
    );
    // If the queue is full, the task is retried, so that no deadline is lost.
    if (!this.ports.submit(task)) {
      this.deadlines.retry(() => {
        this.run(_entry, decide);
      });
    }
  }
}

/** Venues with an expiry of their own end the order themselves. Elsewhere the service cancels it. */
function expired(order: OrderState, at: Instant): readonly OrderEvent[] {
  const { venue, expires_at } = order.terms;
  if (expires_at === undefined || expires_at > at) return [];
  return venue === 'venue_e' || order.status === 'queued'
    ? decideCancel(order, { cause: 'EXPIRED', at })
    : [];
}

function matchesTimer({ venue, connection_id }: CancelTimer, { terms }: OrderState): boolean {
  if (connection_id !== undefined) return terms.connection_id === connection_id;
  return venue === undefined || venue === terms.venue;
}

/** Cancels the orders of a timer that was not renewed in time, once. */
export function decideTimer(user: UserState, user_id: string, name: string, at: Instant): CellEvent[] {
  const timer = user.timers.get(name);
  if (timer?.due_at === undefined || timer.due_at > at) return [];
  const cause = timer.connection_id === undefined ? 'CANCEL_AFTER' : 'DISCONNECT';
  const orders = [...user.live.values()].filter((order) => matchesTimer(timer, order));
  const cancels = orders.flatMap((order) => decideCancel(order, { cause, at }));
  return [...cancels, { type: 'CANCEL_TIMER_ENDED', at, user_id, timer: name, was_due: true }];
}
