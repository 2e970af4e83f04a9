import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from '../events.js';
import { classificationOf } from '../failures.js';
import { isRecorded, isTerminal, type OrderFailure, type OrderState, type VenueCall } from '../order.js';
import { OrderDraft } from './order-draft.js';
import type { SeenFill, TaskKind, TaskOutcome } from './seen.js';
import { bookFills, endUnplaced, isUnplacedYet, settleSeen } from './settle.js';

export interface Reported {
  readonly events: readonly OrderEvent[];
  /** Whether the venue must be queried about the order. */
  readonly isOpenQuestion: boolean;
}

interface Report {
  readonly kind: TaskKind;
  readonly outcome: TaskOutcome;
  readonly at: Instant;
  readonly call?: VenueCall;
  /** Set for reports of an amend. */
  readonly amend_id?: string;
}

/** Decides the events that follow from a task's outcome. All fills in it must belong to this order. */
export function decideReport(order: OrderState, report: Report): Reported {
  const { call } = report;
  const draft = new OrderDraft(
    order,
    report.at,
    call !== undefined && isRecorded(order, call) ? undefined : call,
  );
  const isOpenQuestion = !answered(draft, report);
  if (isWorthKeeping(order, report)) draft.recordCall();
  return { events: draft.events, isOpenQuestion };
}

/** Reads belong to the order's history only while the order waits for an answer of the venue. */
function isWorthKeeping(order: OrderState, { call }: Report): boolean {
  const isWaiting = isUnplacedYet(order) || order.cancel !== undefined || order.amend !== undefined;
  return call?.operation !== 'read' || isWaiting;
}

/** False if the venue must be queried. */
function answered(draft: OrderDraft, report: Report): boolean {
  const { kind, outcome } = report;
  switch (outcome.what) {
    case 'placed':
    case 'cancelled':
      return shown(draft, outcome, kind);
    case 'amended':
      return amended(draft, outcome, report);
    case 'refused':
      return refused(draft, outcome.failure, report);
    case 'not-sent':
      return notSent(draft, outcome.failure, report);
    case 'returned':
      return returned(draft, report);
    case 'doubtful':
      if (kind === 'submit' && isUnplacedYet(draft.state) && !isDoubted(draft.state))
        draft.add({ type: 'SUBMISSION_DOUBTED', reason: outcome.reason });
      return false;
    case 'absent':
      return absent(draft);
    case 'told':
      return true;
  }
}

function isDoubted({ status, cancel }: OrderState): boolean {
  return status === 'pending_venue' || cancel?.before === 'pending_venue';
}

function shown(
  draft: OrderDraft,
  outcome: Extract<TaskOutcome, { what: 'placed' | 'cancelled' }>,
  kind: TaskKind,
): boolean {
  const { order, fills } = outcome;
  // `ORDER_PLACED` comes before the fills, so that it carries the venue call.
  if (isUnplacedYet(draft.state) && order.status !== 'rejected' && !isTerminal(draft.state))
    draft.add({ type: 'ORDER_PLACED', exchange_order_id: order.exchange_order_id });
  bookFills(draft, fills);
  const isSettled = settleSeen(draft, order, outcome.what === 'placed' ? outcome.unfilled : undefined);
  if (!isTerminal(draft.state)) settleAmend(draft, order.price, kind);
  const isStillToCancel = draft.state.cancel !== undefined && !isTerminal(draft.state);
  return isSettled && !isStillToCancel;
}

/** A query shows the price at the venue, so it shows whether an amend in doubt was done. */
function settleAmend(draft: OrderDraft, price: bigint, kind: TaskKind): void {
  const { amend, price: known } = draft.state;
  if (amend === undefined || kind !== 'query') return;
  const { amend_id } = amend;
  if (price === amend.price || price !== known) draft.add({ type: 'ORDER_AMENDED', amend_id, price });
  else draft.add({ type: 'AMEND_REFUSED', amend_id, message: 'the venue shows the former price' });
}

function amended(
  draft: OrderDraft,
  { price, order }: Extract<TaskOutcome, { what: 'amended' }>,
  { amend_id = draft.state.amend?.amend_id ?? '' }: Report,
): boolean {
  // Fills at the new price may have arrived first and ended the order.
  if (!isTerminal(draft.state) || draft.state.price !== price)
    draft.add({ type: 'ORDER_AMENDED', amend_id, price });
  return order === undefined || settleSeen(draft, order);
}

function refused(draft: OrderDraft, failure: OrderFailure, { kind, at, amend_id }: Report): boolean {
  const { state } = draft;
  const message = failure.message ?? failure.code;
  if (kind === 'cancel') {
    if (state.cancel === undefined) return true;
    draft.add({ type: 'CANCEL_REFUSED', message });
    return true;
  }
  if (kind === 'amend') {
    if (amend_id !== undefined && state.amend?.amend_id === amend_id)
      draft.add({ type: 'AMEND_REFUSED', amend_id, message });
    return true;
  }
  return unplaced(draft, failure, at);
}

function notSent(draft: OrderDraft, failure: OrderFailure, report: Report): boolean {
  // The cancel is still wanted, so it is sent again.
  return report.kind === 'cancel' || report.kind === 'query' ? false : refused(draft, failure, report);
}

/** The executor did not try to send the order. It is queued again, and `max_retries` does not count. */
function returned(draft: OrderDraft, { at }: Report): boolean {
  const { status, cancel, terms } = draft.state;
  if (status === 'queued' || isTerminal(draft.state) || !isUnplacedYet(draft.state)) return true;
  const failure = { code: isTooLate(terms, at) ? 'COMMAND_EXPIRED' : 'CELL_UNAVAILABLE' };
  if (cancel !== undefined || isTooLate(terms, at)) endUnplaced(draft, failure);
  else draft.add({ type: 'SUBMISSION_REPEATED', failure });
  return true;
}

function isTooLate({ not_after }: OrderState['terms'], at: Instant): boolean {
  return not_after !== undefined && not_after <= at;
}

function absent(draft: OrderDraft): boolean {
  const { state } = draft;
  if (isTerminal(state)) return true;
  const hasBeenThere = state.exchange_order_id !== undefined || state.filled > 0n;
  if (!hasBeenThere) {
    endOrRepeat(draft, { code: 'EXCHANGE_NOT_PLACED' });
    return true;
  }
  // The venue had the order, so it has not failed. If a cancel was requested, its absence means that the cancel was done.
  if (state.cancel === undefined) return false;
  const status = state.cancel.cause === 'EXPIRED' ? 'expired' : 'cancelled';
  draft.add({ type: 'ORDER_ENDED', status, terminal_reason: state.cancel.cause });
  return true;
}

function unplaced(draft: OrderDraft, failure: OrderFailure, at: Instant): boolean {
  const { state } = draft;
  if (isTerminal(state)) return true;
  // The venue already has the order, so this refusal does not end it. It must be queried.
  if (!isUnplacedYet(state) || state.filled > 0n) return false;
  endOrRepeat(draft, isTooLate(state.terms, at) ? { code: 'COMMAND_EXPIRED' } : failure);
  return true;
}

/** Sends the order again, at most `max_retries` times. Call it only with proof that nothing reached the venue's book. */
function endOrRepeat(draft: OrderDraft, failure: OrderFailure): void {
  const { attempts, cancel, terms } = draft.state;
  const mayRepeat = attempts <= terms.max_retries && terms.max_retries > 0 && cancel === undefined;
  if (mayRepeat && classificationOf(failure.code) === 'retryable')
    draft.add({ type: 'SUBMISSION_REPEATED', failure });
  else endUnplaced(draft, failure);
}

/** Books fills that arrived outside of any task. The order may be in any state. */
export function decideFills(order: OrderState, fills: readonly SeenFill[], at: Instant): OrderEvent[] {
  const draft = new OrderDraft(order, at);
  bookFills(draft, fills);
  return draft.events;
}

const FIRST_BACK_OFF_MILLIS = 250;
const MOST_BACK_OFF_MILLIS = 5_000;

/** How long an order waits before it is sent again. */
export function backOffMillis(attempts: number): number {
  return Math.min(FIRST_BACK_OFF_MILLIS * 2 ** Math.max(attempts - 1, 0), MOST_BACK_OFF_MILLIS);
}
