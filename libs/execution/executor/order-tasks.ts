import { instantFromNanos, NANOS_PER_MILLI, plusMillis, type Instant } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask, TaskReport } from '../protocol/cell-protocol.js';
import type { OrderFailure, OrderTerms, VenueCall } from '../rules/order.js';
import type { VenueId } from '../rules/venues.js';
import {
  VenueUnavailable,
  type OrderName,
  type SubmitOutcome,
  type VenueExchange,
  type VenueAccount,
} from '../venues/port.js';
import { STALE_NANOS } from '../venues/http-exchange.js';
import { findOrder, type QueryTask } from './absence.js';
import { NoAccount, type LinkedAccounts } from './linked-accounts.js';
import type { BreakerBoard } from './breaker-board.js';
import type { CellClient } from './cell-client.js';
import { fillsOf } from './own-fills.js';
import { fundShard } from './shard-funding.js';

type TaskOf<Kind extends ExecutorTask['kind']> = Extract<ExecutorTask, { readonly kind: Kind }>;
export type OrderTask = TaskOf<'submit' | 'cancel' | 'amend' | 'query'>;

/** Counts calls to venues for metrics. */
export interface CallMeter {
  called(venue: VenueId, operation: VenueCall['operation'], outcome: string): void;
}

export interface OrderTaskPorts {
  readonly accounts: LinkedAccounts;
  readonly breakers: Pick<BreakerBoard, 'count' | 'one'>;
  readonly meter: CallMeter;
  readonly clock: Clock;
}

interface Done {
  readonly report: TaskReport;
  readonly call?: VenueCall;
}

const STALE_MILLIS = Number(STALE_NANOS / NANOS_PER_MILLI);
const EXPIRED: OrderFailure = { code: 'COMMAND_EXPIRED' };
const VENUE_AWAY = 'EXCHANGE_UNAVAILABLE';

/** Carries out tasks on one order at its venue, and reports each result once. */
export class OrderTasks {
  constructor(private readonly ports: OrderTaskPorts) {}

  async carryOut(cell: CellClient, task: OrderTask): Promise<void> {
    const done = await this.done(cell, task);
    this.ports.meter.called(task.venue, operationOf(task), done.report.what);
    await cell.report(task.task_id, { order_id: task.terms.order_id, ...done });
  }

  private async done(cell: CellClient, task: OrderTask): Promise<Done> {
    try {
      const account = await this.ports.accounts.of(task.user_id, task.venue, task.account);
      switch (task.kind) {
        case 'submit':
          return await this.unlessBroken(task, () => this.submit(cell, account, task));
        case 'cancel':
          return await this.cancel(account, task);
        case 'amend':
          return await this.unlessBroken(task, () => this.amend(cell, account, task));
        case 'query':
          return await this.query(account, task);
      }
    } catch (error) {
      if (error instanceof NoAccount) return unsent(task, error.failure);
      if (error instanceof VenueUnavailable) return { report: { what: 'doubtful', reason: error.message } };
      throw error;
    }
  }

  private async unlessBroken({ terms }: OrderTask, call: () => Promise<Done>): Promise<Done> {
    const done = await this.ports.breakers.one(terms, call);
    if (done !== undefined) return done;
    const message = 'another order has just tried the venue in vain';
    return refusal('not-sent', { code: 'EXCHANGE_CIRCUIT_OPEN', message });
  }

  private async submit(cell: CellClient, account: VenueAccount, task: TaskOf<'submit'>): Promise<Done> {
    const { terms, attempt, task_id } = task;
    if (this.isPast(terms.not_after)) return refusal('not-sent', EXPIRED);
    const sent = account.sentOf(terms);
    if (sent.quantity <= 0n) return refusal('refused', { code: 'ORDER_TOO_SMALL' });
    const venue_client_id = account.clientIdOf(terms.order_id, attempt);
    const { order_id } = terms;
    const began = this.now();
    const beganNanos = this.ports.clock.monotonicNanos();
    // In parallel: neither sends the order, and both must succeed before it is sent.
    const [mayBeSent, lacking] = await Promise.all([
      cell.begin({ task_id, order_id, venue_client_id, sent }, STALE_MILLIS),
      this.fund(account, terms, sent, `${venue_client_id}.funds`),
    ]);
    if (mayBeSent === undefined) return { report: { what: 'returned' } };
    if (!mayBeSent) return { report: { what: 'told' } };
    if (lacking !== undefined) return lacking;
    if (this.isPast(terms.not_after)) return refusal('not-sent', EXPIRED);
    // The cell may have given up the task meanwhile.
    if (this.ports.clock.monotonicNanos() - beganNanos > STALE_NANOS) return { report: { what: 'returned' } };
    const told = await account.submit(terms, venue_client_id);
    this.ports.breakers.count(terms, isVenueFailure(told.outcome));
    return { call: told.call, report: await this.submitted(account, told, began) };
  }

  /** A failure here proves that the order was not sent. */
  private async fund(
    account: VenueAccount,
    terms: OrderTerms,
    sent: { readonly quantity: bigint; readonly price: bigint },
    reference: string,
  ): Promise<Done | undefined> {
    try {
      if (await fundShard(account, terms, sent, reference)) return undefined;
      const message = 'the shard of this market has too little collateral';
      return refusal('refused', { code: 'INSUFFICIENT_BALANCE', message });
    } catch (error) {
      if (!(error instanceof VenueUnavailable)) throw error;
      if (error.code === VENUE_AWAY) this.ports.breakers.count(terms, true);
      return refusal('not-sent', { code: error.code, message: error.message });
    }
  }

  private async submitted(
    account: VenueAccount,
    { outcome }: VenueExchange<SubmitOutcome>,
    began: Instant,
  ): Promise<TaskReport> {
    if (outcome.what !== 'placed') return outcome;
    const fills = await fillsOf(account, outcome.order, began, this.ports.clock);
    return { ...outcome, fills };
  }

  private async cancel(account: VenueAccount, task: TaskOf<'cancel'>): Promise<Done> {
    if (this.isPast(task.not_after)) return refusal('refused', EXPIRED);
    const { outcome, call } = await account.cancel(nameOf(task));
    switch (outcome.what) {
      case 'cancelled': {
        const fills = await fillsOf(account, outcome.order, this.recently(), this.ports.clock);
        return { call, report: { what: 'cancelled', order: outcome.order, fills } };
      }
      // The order has ended already or never existed, so the venue is asked which.
      case 'gone':
        return this.shown(account, task, call);
      case 'refused':
        return {
          call,
          report: { what: 'refused', failure: { code: 'VENUE_REJECTED', message: outcome.reason } },
        };
      case 'doubtful':
        return { call, report: { what: 'doubtful', reason: outcome.reason } };
      case 'not-sent':
        return {
          call,
          report: { what: 'not-sent', failure: { code: 'EXCHANGE_UNAVAILABLE', message: outcome.reason } },
        };
    }
  }

  private async shown(account: VenueAccount, task: TaskOf<'cancel'>, call: VenueCall): Promise<Done> {
    const { outcome: order } = await account.order(nameOf(task));
    if (order === undefined)
      return { call, report: { what: 'doubtful', reason: 'the venue does not know the order' } };
    const fills = await fillsOf(account, order, this.recently(), this.ports.clock);
    return { call, report: { what: 'placed', order, fills } };
  }

  private async amend(cell: CellClient, account: VenueAccount, task: TaskOf<'amend'>): Promise<Done> {
    if (this.isPast(task.not_after)) return refusal('not-sent', EXPIRED);
    const began = this.now();
    const { outcome, call } = await account.amend(nameOf(task), task.price);
    this.ports.breakers.count(task.terms, outcome.what === 'doubtful' || outcome.what === 'not-sent');
    switch (outcome.what) {
      case 'amended': {
        // The amend may have traded. The fill must be booked before the new price is reported.
        const { user_id, venue } = task;
        const fills = await fillsOf(account, outcome.order, began, this.ports.clock);
        if (fills.length > 0)
          await cell.observed({ user_id, venue, account: account.account, orders: [], fills });
        return { call, report: { what: 'amended', price: task.price, order: outcome.order } };
      }
      case 'refused':
        return { call, report: outcome };
      case 'doubtful':
        return { call, report: { what: 'doubtful', reason: outcome.reason } };
      case 'not-sent':
        return {
          call,
          report: { what: 'not-sent', failure: { code: 'EXCHANGE_UNAVAILABLE', message: outcome.reason } },
        };
    }
  }

  private async query(account: VenueAccount, task: QueryTask): Promise<Done> {
    const venue = this.ports.accounts.venue(task.venue);
    const found = await findOrder({ venue, account, clock: this.ports.clock }, task);
    const call = found.call === undefined ? {} : { call: found.call };
    if (found.what === 'absent') return { ...call, report: { what: 'absent' } };
    if (found.what === 'unknown') return { ...call, report: { what: 'doubtful', reason: found.reason } };
    const fills = await fillsOf(account, found.order, task.since, this.ports.clock);
    return { ...call, report: { what: 'placed', order: found.order, fills } };
  }

  private isPast(not_after: Instant | undefined): boolean {
    return not_after !== undefined && not_after <= this.now();
  }

  private recently(): Instant {
    return plusMillis(this.now(), -RECENT_MILLIS);
  }

  private now(): Instant {
    return instantFromNanos(this.ports.clock.epochNanos());
  }
}

/** The feed or a pass over the account has already reported older fills. */
const RECENT_MILLIS = 60_000;

function nameOf(task: TaskOf<'cancel' | 'amend'>): OrderName {
  const { terms, venue_client_id, exchange_order_id } = task;
  return { terms, venue_client_id, ...(exchange_order_id === undefined ? {} : { exchange_order_id }) };
}

function refusal(what: 'refused' | 'not-sent', failure: OrderFailure): Done {
  return { report: { what, failure } };
}

/** Without the user's keys nothing can be sent. A query then stays in doubt. */
function unsent({ kind }: OrderTask, failure: OrderFailure): Done {
  if (kind === 'query') return { report: { what: 'doubtful', reason: failure.message ?? failure.code } };
  return refusal('not-sent', failure);
}

function isVenueFailure(outcome: SubmitOutcome): boolean {
  if (outcome.what === 'doubtful') return true;
  return outcome.what === 'not-sent' && outcome.failure.code === VENUE_AWAY;
}

function operationOf({ kind }: OrderTask): VenueCall['operation'] {
  return kind === 'query' ? 'read' : kind;
}
