import { plusMillis, type Instant } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { TraderRequest } from '../protocol/cell-protocol.js';
import type { CancelReply, SubmitReply } from '../protocol/cell-replies.js';
import { decideCancel } from '../rules/decide/cancel.js';
import { OrderDraft } from '../rules/decide/order-draft.js';
import { isUnplacedYet } from '../rules/decide/settle.js';
import type { CellEvent, OrderEvent } from '../rules/events.js';
import { remainingOf } from '../rules/evolve.js';
import { isInDoubt, judgeSell, keyOfOrder } from '../rules/exposure.js';
import { isPriceOnGrid } from '../rules/markets.js';
import { ONE, printMicros } from '../rules/micros.js';
import { isTerminal, type OrderState, type OrderTerms } from '../rules/order.js';
import { printTime } from '../rules/record.js';
import { orderOf } from '../rules/user.js';
import type { VenueId } from '../rules/venues.js';
import {
  answer,
  cellTask,
  EXPIRED,
  isPast,
  NO_ORDER,
  refusal,
  UNAVAILABLE,
  type CellTask,
  type CellDecision,
} from './cell-task.js';
import type { ConnectionWatch } from './connection-watch.js';
import type { FormerOrders } from './former-orders.js';
import type { OrderWatch } from './order-watch.js';
import type { Outcomes } from './outcomes.js';
import type { Slots, SlotsTaken } from './slots.js';
import type { SwitchedOff, Switchboard } from './switchboard.js';
import { callerKey, type UserEntry } from './user-entry.js';
import type { Users } from './users.js';

type Request<Op extends TraderRequest['op']> = Extract<TraderRequest, { op: Op }>;

export interface TraderDeskPorts {
  readonly users: Users;
  readonly slots: Slots;
  readonly switchboard: Switchboard;
  readonly watch: OrderWatch;
  readonly outcomes: Outcomes;
  readonly connections: ConnectionWatch;
  readonly former: FormerOrders;
  readonly newOrderId: (venue: VenueId) => string;
  readonly newId: () => string;
  readonly submit: (task: CellTask) => boolean;
}

/** Shorter than gateways wait for an amend. If the result is unknown by then, the reply says so. */
const AMEND_WAIT_MILLIS = 10_000;
const CANCEL_ALL_WAIT_MILLIS = 2_000;

/** Handles the commands of traders. Callers may rely on the order of the checks. */
export class TraderDesk {
  constructor(private readonly ports: TraderDeskPorts) {}

  async submit(request: Request<'submit'>): Promise<LinkReply> {
    const { terms } = request;
    const entry = this.ports.users.entryOf(request.user_id);
    const key =
      terms.client_order_id === undefined
        ? undefined
        : callerKey(terms.venue, terms.market_id, terms.client_order_id);
    const known = key === undefined ? undefined : entry.keys.get(key);
    // An order that ended long ago is read from the journal. The task below finds all others.
    const former =
      known === undefined || orderOf(entry.head, known.id) !== undefined
        ? undefined
        : await this.ports.former.read(entry, known.id);
    return this.run((at) => {
      const id = key === undefined ? undefined : entry.keys.get(key)?.id;
      const stored = id === undefined ? undefined : (orderOf(entry.head, id) ?? former);
      if (stored !== undefined) return replayed(stored, terms.content);
      return this.accept(entry, request, at);
    });
  }

  private accept(entry: UserEntry, request: Request<'submit'>, at: Instant): CellDecision {
    const { user_id, market_status } = request;
    const terms: OrderTerms = {
      ...request.terms,
      user_id,
      order_id: this.ports.newOrderId(request.terms.venue),
    };
    if (isPast(terms.not_after, at)) return refused(EXPIRED);
    const taken = this.ports.slots.takeOrder(user_id, request);
    if (!taken.ok) return refused(tooMany(taken));
    const { holdings } = entry.head;
    const off = this.ports.switchboard.refusalOf(terms, holdings);
    if (off !== undefined) return refused(switchedOff(off, at, taken));
    if (market_status !== 'open')
      return refused(withSlots('VALIDATION_MARKET_CLOSED', `The market is ${market_status}.`, taken));
    if (!holdings.links.has(terms.venue))
      return refused(withSlots('EXCHANGE_NOT_LINKED', `${terms.venue} is not linked.`, taken));
    if (terms.side === 'sell') {
      const verdict = judgeSell(entry.head, terms, at);
      if (verdict !== 'ok') return refused(this.noShares(entry, terms, verdict, taken));
    }
    this.ports.switchboard.letThrough(terms);
    const { order_id } = terms;
    const { slots } = taken;
    const body: SubmitReply = {
      ...{ order_id, status: 'queued', funding: null, is_replay: false, is_mismatch: false },
      slots,
    };
    return {
      events: [
        { type: 'ORDER_ACCEPTED', at, user_id, order_id, terms },
        ...this.ports.connections.noted(terms, entry, at),
      ],
      reply: () => answer('submit', body),
    };
  }

  private noShares(
    entry: UserEntry,
    terms: OrderTerms,
    verdict: 'INSUFFICIENT_POSITION' | 'POSITION_RESERVATION_UNVERIFIED',
    taken: SlotsTaken,
  ): LinkReply {
    if (verdict === 'INSUFFICIENT_POSITION')
      return withSlots(verdict, 'There are not as many shares to sell.', taken);
    this.verify(
      entry,
      (order) => keyOfOrder(entry.head.holdings, order) === keyOfOrder(entry.head.holdings, terms),
    );
    this.ports.watch.reconcile(entry, terms.venue);
    return withSlots(verdict, 'It is being found out which shares are reserved; try again soon.', taken);
  }

  /** Queries the venue again about every matching order in doubt. */
  verify(entry: UserEntry, isSelected: (terms: OrderTerms) => boolean): void {
    for (const order of entry.head.live.values())
      if (isInDoubt(order) && isSelected(order.terms)) this.ports.watch.askNow(entry, order);
  }

  async cancel(request: Request<'cancel'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(request.user_id);
    const former = await this.formerOf(entry, request.order_id);
    return this.cancelOrder(entry, request, () => orderOf(entry.head, request.order_id) ?? former);
  }

  async cancelByClientId(request: Request<'cancel_by_client_id'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(request.user_id);
    const key = callerKey(request.venue, request.market_id, request.client_order_id);
    const known = entry.keys.get(key);
    const former = known === undefined ? undefined : await this.formerOf(entry, known.id);
    return this.cancelOrder(entry, request, () => {
      const id = entry.keys.get(key)?.id;
      return id === undefined ? undefined : (orderOf(entry.head, id) ?? former);
    });
  }

  private cancelOrder(
    entry: UserEntry,
    request: Request<'cancel' | 'cancel_by_client_id'>,
    find: () => OrderState | undefined,
  ): Promise<LinkReply> {
    const { not_after } = request;
    const reason = request.op === 'cancel' ? request.reason : undefined;
    return this.run((at) => {
      if (isPast(not_after, at)) return refused(EXPIRED);
      const taken = this.ports.slots.takeCall(entry.user_id, 'cancels');
      if (!taken.ok) return refused(tooMany(taken));
      const order = find();
      if (order === undefined) return refused(NO_ORDER);
      const wasLive = !isTerminal(order);
      const events = decideCancel(order, {
        ...{ cause: 'USER', at },
        ...(reason === undefined ? {} : { reason }),
        ...(not_after === undefined ? {} : { not_after }),
      });
      return { events, reply: () => answer('cancel', cancelReply(find() ?? order, wasLive)) };
    });
  }

  async cancelAll(request: Request<'cancel_all'>): Promise<LinkReply> {
    const { select, cause, not_after, user_id } = request;
    const entry = this.ports.users.entryOf(user_id);
    const orderIds: string[] = [];
    const accepted = await this.run((at) => {
      if (isPast(not_after, at)) return refused(EXPIRED);
      const taken = this.ports.slots.takeCall(user_id, 'cancels');
      if (!taken.ok) return refused(tooMany(taken));
      const orders = [...entry.head.live.values()].filter(({ terms }) => isSelected(terms, select));
      const until = not_after === undefined ? {} : { not_after };
      const events = orders.flatMap((order) => {
        orderIds.push(order.terms.order_id);
        return decideCancel(order, { cause, at, ...until });
      });
      return { events, reply: () => answer('connection', {}) };
    });
    if (accepted.status !== 200) return accepted;
    const refusals = new Map<string, string>();
    await Promise.all(orderIds.map((id) => this.ended(entry, id, refusals)));
    return this.run((at) => ({ events: [], reply: () => this.summary(entry, orderIds, refusals, at) }));
  }

  /** Waits a short time until the order has ended or its cancel is refused. */
  private async ended(entry: UserEntry, id: string, refusals: Map<string, string>): Promise<void> {
    const order = orderOf(entry.head, id);
    if (order === undefined || isTerminal(order)) return;
    const isOver = (event: OrderEvent): boolean => {
      if (event.type === 'CANCEL_REFUSED') refusals.set(id, event.message);
      const now = orderOf(entry.head, id);
      return event.type === 'CANCEL_REFUSED' || now === undefined || isTerminal(now);
    };
    await this.ports.outcomes.next(id, isOver, CANCEL_ALL_WAIT_MILLIS);
  }

  private summary(
    entry: UserEntry,
    orderIds: readonly string[],
    refusals: ReadonlyMap<string, string>,
    at: Instant,
  ): LinkReply {
    const failed: { order_id: string; code: string; message: string }[] = [];
    let cancelled = 0;
    let pending = 0;
    for (const order_id of orderIds) {
      const order = orderOf(entry.head, order_id);
      const message = refusals.get(order_id);
      if (order?.status === 'cancelled' || order?.status === 'expired') cancelled += 1;
      else if (message !== undefined) failed.push({ order_id, code: 'VENUE_REJECTED', message });
      else if (order === undefined || isTerminal(order))
        failed.push({
          order_id,
          code: 'VENUE_REJECTED',
          message: `The order is ${order?.status ?? 'over'}.`,
        });
      else pending += 1;
    }
    return answer('cancel_all', {
      requested: orderIds.length,
      cancelled,
      pending,
      failed,
      as_of: printTime(at),
    });
  }

  cancelAfter({ user_id, timeout_ms, venue }: Request<'cancel_after'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(user_id);
    const timer = `after/${venue ?? '*'}`;
    return this.run((at) => {
      const taken = this.ports.slots.takeCall(user_id, 'cancels');
      if (!taken.ok) return refused(tooMany(taken));
      if (timeout_ms === 0)
        return { events: endTimer(entry, timer, at), reply: () => answer('cancel_after', {}) };
      const due_at = plusMillis(at, timeout_ms);
      const of = venue === undefined ? {} : { venue };
      return {
        events: [{ type: 'CANCEL_TIMER_ARMED', at, user_id, timer, due_at, ...of }],
        reply: () => answer('cancel_after', { armed_until: printTime(due_at) }),
      };
    });
  }

  async amend(request: Request<'amend'>): Promise<LinkReply> {
    const { order_id, price, not_after, user_id } = request;
    const entry = this.ports.users.entryOf(user_id);
    const former = await this.formerOf(entry, order_id);
    const amend_id = this.ports.newId();
    const amending: { outcome?: Promise<OrderEvent | undefined>; taken?: SlotsTaken } = {};
    const reply = await this.run((at) => {
      if (isPast(not_after, at)) return refused(EXPIRED);
      const taken = this.ports.slots.takeOrder(user_id, request);
      if (!taken.ok) return refused(tooMany(taken));
      const order = orderOf(entry.head, order_id) ?? former;
      if (order === undefined) return refused(NO_ORDER);
      const off = this.ports.switchboard.refusalOf({ ...order.terms, user_id }, entry.head.holdings);
      if (off !== undefined) return refused(switchedOff(off, at, taken));
      if (price <= 0n || price > ONE || isPriceOnGrid(order.terms.market, price) === false)
        return refused(offGrid(taken));
      const objection = notAmendable(order);
      if (objection !== undefined) return refused(notAmended(objection, taken));
      if (order.price === price) return refused(amended(order, taken));
      this.ports.switchboard.letThrough({ ...order.terms, user_id });
      amending.outcome = this.amendOutcome(order_id, amend_id);
      amending.taken = taken;
      const draft = new OrderDraft(order, at);
      const until = not_after === undefined ? {} : { not_after };
      draft.add({ type: 'AMEND_REQUESTED', amend_id, price, ...until });
      return { events: draft.events, reply: () => amended(order, taken) };
    });
    if (amending.outcome === undefined || reply.status !== 200) return reply;
    const event = await amending.outcome;
    const order = orderOf(entry.head, order_id);
    const isOver = order === undefined || (isTerminal(order) && order.status !== 'filled');
    if (event?.type === 'ORDER_AMENDED' && !isOver) return amended(order, amending.taken);
    const ended = isOver ? 'it has ended' : 'the venue has not answered readably';
    const why = event?.type === 'AMEND_REFUSED' ? event.message : ended;
    return notAmended(`The order could not be amended on the exchange: ${why}`, amending.taken);
  }

  private amendOutcome(order_id: string, amend_id: string): Promise<OrderEvent | undefined> {
    const isIt = (event: OrderEvent): boolean => {
      if (event.type === 'ORDER_ENDED') return true;
      return 'amend_id' in event && event.amend_id === amend_id && event.type !== 'AMEND_REQUESTED';
    };
    return this.ports.outcomes.next(order_id, isIt, AMEND_WAIT_MILLIS);
  }

  private formerOf(entry: UserEntry, order_id: string): Promise<OrderState | undefined> {
    if (orderOf(entry.head, order_id) !== undefined) return Promise.resolve(undefined);
    return this.ports.former.read(entry, order_id);
  }

  private run(decide: (at: Instant) => CellDecision): Promise<LinkReply> {
    return new Promise((resolve) => {
      if (!this.ports.submit(cellTask(decide, resolve))) resolve(UNAVAILABLE);
    });
  }
}

function refused(reply: LinkReply): CellDecision {
  return { events: [], reply: () => reply };
}

function replayed(order: OrderState, content: string): CellDecision {
  const { status, terms } = order;
  const { order_id } = terms;
  const is_mismatch = terms.content !== content;
  return {
    events: [],
    reply: () => answer('submit', { order_id, status, funding: null, is_replay: true, is_mismatch }),
  };
}

function withSlots(code: string, message: string, { slots }: SlotsTaken): LinkReply {
  return refusal(code, message, { slots });
}

function offGrid({ slots }: SlotsTaken): LinkReply {
  const message = 'The price is not on the grid of the market.';
  return refusal('VALIDATION_INVALID_PRICE', message, { details: { field: 'price' }, slots });
}

function tooMany({ code = 'RATE_LIMITED_CALLS', slots }: SlotsTaken): LinkReply {
  return refusal(code, 'There were too many of these calls in a short time.', { slots, retry_after: 1 });
}

function switchedOff(off: SwitchedOff, at: Instant, { slots }: SlotsTaken): LinkReply {
  if (off.code === 'EXCHANGE_TRADING_HALTED') {
    const { scope, mode } = off.mode;
    return refusal(off.code, `Trading is ${mode} here.`, { details: { scope, mode }, slots });
  }
  if (off.code === 'EXCHANGE_CIRCUIT_OPEN') {
    const seconds = off.until === undefined ? 1 : Math.ceil((Date.parse(off.until) - Date.parse(at)) / 1_000);
    return refusal(off.code, 'The venue has failed too often just now.', {
      slots,
      retry_after: Math.max(seconds, 1),
    });
  }
  return refusal(off.code, 'The switches of the operators cannot be read now.', { slots });
}

function isSelected(terms: OrderTerms, select: Request<'cancel_all'>['select']): boolean {
  const { venue, market_id, token_id, side } = select;
  return (
    (venue === undefined || venue === terms.venue) &&
    (market_id === undefined || market_id === terms.market_id) &&
    (token_id === undefined || token_id === terms.token_id) &&
    (side === undefined || side === terms.side)
  );
}

function cancelReply(order: OrderState, wasLive: boolean): CancelReply {
  const { status, terms, filled, terminal_reason } = order;
  return {
    ...{ order_id: terms.order_id, status, success: wasLive },
    ...{ filled_quantity: printMicros(filled), remaining_quantity: printMicros(remainingOf(order)) },
    ...(terminal_reason === undefined ? {} : { terminal_reason }),
    ...(wasLive ? {} : { message: `The order is ${status} already.` }),
  };
}

function endTimer(entry: UserEntry, timer: string, at: Instant): CellEvent[] {
  if (!entry.head.timers.has(timer)) return [];
  return [{ type: 'CANCEL_TIMER_ENDED', at, user_id: entry.user_id, timer, was_due: false }];
}

function notAmendable(order: OrderState): string | undefined {
  if (isTerminal(order)) return `The order is ${order.status} and not amendable.`;
  if (isUnplacedYet(order) || order.exchange_order_id === undefined)
    return 'The order is still being submitted; retry shortly.';
  if (order.cancel !== undefined) return 'The order is being cancelled.';
  return order.amend === undefined ? undefined : 'Another amend of the order is under way; retry shortly.';
}

function notAmended(message: string, taken?: SlotsTaken): LinkReply {
  return answer('amend', { success: false, message, ...(taken === undefined ? {} : { slots: taken.slots }) });
}

function amended({ exchange_order_id, price, terms }: OrderState, taken?: SlotsTaken): LinkReply {
  return answer('amend', {
    success: true,
    ...(exchange_order_id === undefined ? {} : { exchange_order_id }),
    ...{ price, quantity: terms.quantity },
    ...(taken === undefined ? {} : { slots: taken.slots }),
  });
}
