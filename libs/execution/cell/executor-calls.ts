import type { Instant } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { ExecutorRequest, ObservedFill, TaskReport } from '../protocol/cell-protocol.js';
import { decideDoubt, decideUnsent } from '../rules/decide/cancel.js';
import { OrderDraft } from '../rules/decide/order-draft.js';
import { decideLeaving } from '../rules/decide/balances.js';
import { decideReport } from '../rules/decide/report.js';
import { isUnplacedYet } from '../rules/decide/settle.js';
import type { TaskKind } from '../rules/decide/seen.js';
import type { CellEvent, HoldingEvent } from '../rules/events.js';
import type { Transfer } from '../rules/holdings.js';
import type { OrderState } from '../rules/order.js';
import { orderOf } from '../rules/user.js';
import type { VenueId } from '../rules/venues.js';
import { BalanceCheck } from './balance-check.js';
import {
  answer,
  cellTask,
  isPast,
  NO_ORDER,
  refusal,
  UNAVAILABLE,
  type CellTask,
  type CellDecision,
} from './cell-task.js';
import type { FormerOrders } from './former-orders.js';
import { HeardReports } from './heard-reports.js';
import type { Observations } from './observations.js';
import type { OrderWatch } from './order-watch.js';
import { Recollection } from './recollection.js';
import type { Switchboard } from './switchboard.js';
import { readTaskId, type Lease, type TaskDesk } from './task-desk.js';
import type { UserEntry } from './user-entry.js';
import type { Users } from './users.js';

type Request<Op extends ExecutorRequest['op']> = Extract<ExecutorRequest, { op: Op }>;

export interface ExecutorCallPorts {
  readonly users: Users;
  readonly desk: TaskDesk;
  readonly watch: OrderWatch;
  readonly switchboard: Switchboard;
  readonly observations: Observations;
  readonly former: FormerOrders;
  readonly submit: (task: CellTask) => boolean;
}

/** How often a decision is retried while its orders are read from the journal. Only a flood of orders needs more. */
const RECALLS = 5;

const LEASE_LOST = {
  what: 'doubtful',
  reason: 'reported by an executor that no longer has the task',
} as const;
const STILL_IN_USE = refusal(
  'VALIDATION_INVALID_PARAMETER',
  'Orders, shares or transfers are in the account that is linked: end them before another account takes its place.',
);
const DO_NOT_SEND = refusal('COMMAND_EXPIRED', 'The order is not to be sent any more.');

/** Handles the requests of executors. */
export class ExecutorCalls {
  private readonly check = new BalanceCheck();
  private readonly reports = new HeardReports();

  constructor(private readonly ports: ExecutorCallPorts) {
    ports.watch.lost = (entry, order_id) => {
      this.doubt(entry, order_id);
    };
  }

  async claim({ executor, max, wait_ms }: Request<'claim'>): Promise<LinkReply> {
    return answer('claim', { tasks: await this.ports.desk.claim(executor, max, wait_ms) });
  }

  /** After this, the venue may have the order. */
  async begin(request: Request<'begin_submission'>): Promise<LinkReply> {
    const { order_id, executor, task_id } = request;
    const entry = this.ports.users.ownerOf(order_id);
    if (entry === undefined) return NO_ORDER;
    const { desk } = this.ports;
    desk.hear(executor);
    const reply = await this.decideBegin(entry, request);
    // The executor sends no report for a task that it must not send.
    if (reply.status === DO_NOT_SEND.status) desk.done(task_id);
    return reply;
  }

  private decideBegin(entry: UserEntry, request: Request<'begin_submission'>): Promise<LinkReply> {
    const { order_id, venue_client_id, sent, task_id, executor } = request;
    return this.run((at) => {
      const order = orderOf(entry.head, order_id);
      // Checked only now: while this waited, the task may have been given to another executor.
      if (order === undefined || !this.ports.desk.has(task_id, executor, order_id))
        return refused(DO_NOT_SEND);
      // This executor has begun the task before, and the answer was lost. Nothing was sent without it.
      const isBegun = (order.cancel?.before ?? order.status) === 'submitting';
      if (isBegun && order.venue_client_id === venue_client_id)
        return { events: [], reply: () => answer('begin_submission', { attempt: order.attempts }) };
      if (order.status !== 'queued') return refused(DO_NOT_SEND);
      const code = this.objection(order, entry, at);
      if (code !== undefined) return { events: decideUnsent(order, code, at), reply: () => DO_NOT_SEND };
      const draft = new OrderDraft(order, at);
      const attempt = order.attempts + 1;
      draft.add({ type: 'SUBMISSION_STARTED', attempt, venue_client_id, sent });
      return { events: draft.events, reply: () => answer('begin_submission', { attempt }) };
    });
  }

  private objection(order: OrderState, entry: UserEntry, at: Instant): string | undefined {
    if (isPast(order.terms.not_after, at)) return 'COMMAND_EXPIRED';
    const isOff = this.ports.switchboard.isSwitchedOff(order.terms, entry.head.holdings);
    return isOff ? 'EXCHANGE_TRADING_HALTED' : undefined;
  }

  async report(request: Request<'report'>): Promise<LinkReply> {
    const { task_id, executor, order_id } = request;
    this.ports.desk.hear(executor);
    const { kind } = readTaskId(task_id);
    const isOfOrder = kind === 'submit' || kind === 'cancel' || kind === 'amend' || kind === 'query';
    const entry = order_id === undefined ? undefined : this.ports.users.ownerOf(order_id);
    if (isOfOrder && entry !== undefined && order_id !== undefined)
      return this.reports.once(task_id, () => this.applyReport(entry, order_id, kind, request));
    const lease = this.ports.desk.done(task_id);
    if (lease?.work.kind === 'transfer' && request.report.what !== 'told')
      this.ports.watch.transferAgain(lease.entry, lease.venue, lease.work.transfer_id);
    return answer('report', { position: this.ports.users.position });
  }

  private async applyReport(
    entry: UserEntry,
    order_id: string,
    kind: TaskKind,
    { task_id, report, call, executor }: Request<'report'>,
  ): Promise<LinkReply> {
    const found = { isOpen: false };
    const reply = await this.decideWithRecall(entry, (recollection, at) => {
      const order = recollection.find(order_id);
      if (order === undefined || !isOfThisAttempt(order, task_id, report)) return this.acknowledge([]);
      const { own, others } = splitFills(report);
      const isBelieved = !isDenial(kind, report) || this.ports.desk.has(task_id, executor, order_id);
      if (!isBelieved && order.status === 'queued') return this.acknowledge([]);
      const outcome = isBelieved ? ('fills' in report ? { ...report, fills: own } : report) : LEASE_LOST;
      const input = { kind, outcome, at, ...(call === undefined ? {} : { call }), ...amendIn(task_id) };
      const { events, isOpenQuestion } = decideReport(order, input);
      found.isOpen = isOpenQuestion;
      const { venue } = order.terms;
      const ofOthers = this.ports.observations.fillsAlone(recollection, venue, others, at);
      return this.acknowledge([...recollection.before(order, events), ...ofOthers]);
    });
    // The result is not durable, so the executor will report it again.
    if (reply.status === UNAVAILABLE.status) return reply;
    // Ended only now, so that the next task of the same market is given out after this result.
    const lease = this.ports.desk.done(task_id);
    if (report.what === 'returned' && lease !== undefined) this.requeue(lease);
    if (found.isOpen) this.followUp(entry, order_id, kind, report);
    else this.ports.watch.settled(order_id);
    return reply;
  }

  /** Queues a returned submit again at once if it was never begun. Otherwise the repeat event does so after a delay. */
  private requeue({ entry, work, task_id }: Lease): void {
    const order = 'order_id' in work ? orderOf(entry.head, work.order_id) : undefined;
    if (order?.status !== 'queued' || readTaskId(task_id).attempt !== order.attempts + 1) return;
    this.ports.watch.hand(entry, order, 'submit');
  }

  private followUp(entry: UserEntry, order_id: string, kind: TaskKind, report: TaskReport): void {
    const order = orderOf(entry.head, order_id);
    if (order === undefined) return;
    const isResting = report.what === 'placed' && report.order.status === 'resting';
    if (kind === 'query' && isResting && order.cancel !== undefined)
      this.ports.watch.cancelAgain(entry, order);
    // For a submit in doubt, the event itself starts the query.
    else if (kind !== 'submit' || report.what !== 'doubtful') this.ports.watch.ask(entry, order);
  }

  async observed(request: Request<'observed'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(request.user_id);
    let open: readonly string[] = [];
    const reply = await this.decideWithRecall(entry, (recollection, at) => {
      if (!isLinked(entry, request)) return this.acknowledge([]);
      const noticed = this.ports.observations.decide(recollection, request, at);
      open = noticed.open;
      return this.acknowledge(noticed.events);
    });
    for (const order_id of open) {
      const order = orderOf(entry.head, order_id);
      if (order !== undefined) this.ports.watch.ask(entry, order);
    }
    if (request.is_complete === true && isLinked(entry, request)) this.askForMissing(entry, request);
    return reply;
  }

  /** An order that is missing among the resting ones may have ended in any way, so the venue is queried. */
  private askForMissing(entry: UserEntry, { venue, orders }: Request<'observed'>): void {
    const resting = new Set(orders.map(({ exchange_order_id: id }) => id));
    for (const order of entry.head.live.values()) {
      const { exchange_order_id: id, terms } = order;
      if (terms.venue !== venue || id === undefined || resting.has(id) || isUnplacedYet(order)) continue;
      this.ports.watch.askNow(entry, order);
    }
  }

  async balances(request: Request<'balances'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(request.user_id);
    const found = { isSuspicious: false };
    const reply = await this.run((at) => {
      if (!isLinked(entry, request)) return this.acknowledge([]);
      const checked = this.check.decide(entry, request, at);
      found.isSuspicious = checked.isSuspicious;
      return this.acknowledge(checked.events);
    });
    if (found.isSuspicious) this.ports.watch.reconcileSoon(entry, request.venue);
    return reply;
  }

  link({ user_id, venue, account }: Request<'link_account'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(user_id);
    return this.run((at) => {
      if (!mayReplaceAccount(entry, venue, account)) return refused(STILL_IN_USE);
      const known = entry.head.holdings.links.get(venue);
      const leaving = decideLeaving(entry.head.holdings, { user_id, venue, at });
      const isSame = known?.account === account;
      const events: HoldingEvent[] = isSame
        ? []
        : [...leaving, { type: 'VENUE_LINKED', at, user_id, venue, account }];
      return { events, reply: () => answer('link_account', { linked_at: known?.linked_at ?? at }) };
    });
  }

  transferReport(request: Request<'transfer_report'>): Promise<LinkReply> {
    const entry = this.ports.users.entryOf(request.user_id);
    return this.run((at) =>
      mayGoOn(entry, request) ? this.acknowledge(transferEvents(entry, request, at)) : refused(DO_NOT_SEND),
    );
  }

  health({ health }: Request<'venue_health'>): LinkReply {
    this.ports.switchboard.told(health);
    return answer('venue_health', {});
  }

  /** The executor lost its task. If it may have sent the order, the venue is queried. Otherwise the task is given out again. */
  lost({ entry, venue, work }: Lease): void {
    if (work.kind === 'reconcile') return;
    if (work.kind === 'transfer') {
      this.ports.watch.transfer(entry, venue, work.transfer_id);
      return;
    }
    const order = orderOf(entry.head, work.order_id);
    if (order === undefined) return;
    if (work.kind === 'submit' && order.status === 'queued') this.ports.watch.hand(entry, order, 'submit');
    else if (work.kind === 'submit') this.doubt(entry, work.order_id);
    else this.ports.watch.ask(entry, order);
  }

  private doubt(entry: UserEntry, order_id: string): void {
    void this.run((at) => {
      const order = orderOf(entry.head, order_id);
      const reason = 'the executor that was sending it is gone';
      return this.acknowledge(order === undefined ? [] : decideDoubt(order, reason, at));
    });
  }

  private acknowledge(events: readonly CellEvent[]): CellDecision {
    const { users } = this.ports;
    return { events, reply: () => answer('observed', { position: users.position }) };
  }

  /** Decides again until every order that the decision needs is found, in memory or in the journal. */
  private async decideWithRecall(
    entry: UserEntry,
    decide: (recollection: Recollection, at: Instant) => CellDecision,
  ): Promise<LinkReply> {
    const recollection = new Recollection(entry, this.ports.former);
    for (let tries = 0; tries <= RECALLS; tries += 1) {
      const found = { isWhole: true };
      const reply = await this.run((at) => {
        const { parked } = entry;
        const decision = decide(recollection, at);
        found.isWhole = recollection.isWhole;
        if (found.isWhole) return decision;
        entry.parked = parked;
        return refused(UNAVAILABLE);
      });
      if (found.isWhole) return reply;
      await recollection.read();
    }
    return UNAVAILABLE;
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

function amendIn(task_id: string): { amend_id?: string } {
  const { kind, id } = readTaskId(task_id);
  return kind === 'amend' ? { amend_id: id } : {};
}

/** A read of an account may end after another account has taken its place. */
function isLinked(
  { head: { holdings } }: UserEntry,
  { venue, account }: { readonly venue: VenueId; readonly account: string },
): boolean {
  return holdings.links.get(venue)?.account === account;
}

/** Whether the account may be linked. Orders and shares are found by their account, so none may be left in the former one. */
function mayReplaceAccount(
  { head: { live, holdings } }: UserEntry,
  venue: VenueId,
  account: string,
): boolean {
  const linked = holdings.links.get(venue);
  if (linked === undefined || linked.account === account) return true;
  return (
    ![...live.values()].some(({ terms }) => terms.venue === venue) &&
    ![...holdings.transfers.values()].some(({ terms, status }) => terms.venue === venue && !isOver(status)) &&
    ![...holdings.positions.values()].some((held) => held.venue === venue && held.quantity > 0n)
  );
}

function isOver(status: Transfer['status']): boolean {
  return status === 'COMPLETED' || status === 'FAILED';
}

/** A refusal or absence counts only for the attempt that it was reported for, not for a later one. */
function isOfThisAttempt(order: OrderState, task_id: string, { what }: TaskReport): boolean {
  if (what === 'placed' || what === 'cancelled' || what === 'amended') return true;
  const { kind, attempt } = readTaskId(task_id);
  if (kind === 'submit' && order.status === 'queued') return attempt === order.attempts + 1;
  return attempt === order.attempts;
}

/** These reports end an order, so they count only from the executor that has the task. Another one may have sent it meanwhile. */
function isDenial(kind: TaskKind, { what }: TaskReport): boolean {
  return kind === 'submit' && (what === 'refused' || what === 'not-sent' || what === 'returned');
}

function splitFills(report: TaskReport): { own: ObservedFill[]; others: ObservedFill[] } {
  if (!('fills' in report)) return { own: [], others: [] };
  const isOwn = ({ exchange_order_id: id }: ObservedFill): boolean => id === report.order.exchange_order_id;
  return { own: report.fills.filter(isOwn), others: report.fills.filter((fill) => !isOwn(fill)) };
}

/** A transfer is sent under one reference only. An executor that comes second with another reference must not send it. */
function mayGoOn(entry: UserEntry, { transfer_id, step, reference }: Request<'transfer_report'>): boolean {
  const transfer = entry.head.holdings.transfers.get(transfer_id);
  if (step !== 'sent' || transfer?.status === 'PENDING') return true;
  return transfer?.status === 'IN_TRANSIT' && transfer.reference === (reference ?? transfer_id);
}

function transferEvents(
  entry: UserEntry,
  { user_id, transfer_id, step, reference, failure }: Request<'transfer_report'>,
  at: Instant,
): HoldingEvent[] {
  const transfer = entry.head.holdings.transfers.get(transfer_id);
  if (transfer === undefined || transfer.status === 'COMPLETED' || transfer.status === 'FAILED') return [];
  const of = { at, user_id, venue: transfer.terms.venue, transfer_id };
  const known = reference ?? transfer.reference ?? transfer_id;
  switch (step) {
    case 'sent':
      return transfer.status === 'PENDING' ? [{ ...of, type: 'TRANSFER_SENT', reference: known }] : [];
    case 'completed':
      return [{ ...of, type: 'TRANSFER_COMPLETED', reference: known }];
    case 'failed':
      return [{ ...of, type: 'TRANSFER_FAILED', failure: failure ?? { code: 'EXCHANGE_NOT_PLACED' } }];
  }
}
