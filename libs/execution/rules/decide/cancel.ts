import type { Instant } from '#libs/base/instant.js';
import type { OrderEvent } from '../events.js';
import { isTerminal, type CancelCause, type OrderState } from '../order.js';
import { OrderDraft } from './order-draft.js';

interface Cancel {
  readonly cause: CancelCause;
  readonly at: Instant;
  readonly reason?: string;
  readonly not_after?: Instant;
}

/** An order that was never sent ends at once. Otherwise the venue must end it. A repeated cancel changes nothing. */
export function decideCancel(order: OrderState, { cause, at, reason, not_after }: Cancel): OrderEvent[] {
  if (isTerminal(order) || order.cancel !== undefined) return [];
  const draft = new OrderDraft(order, at);
  if (order.status === 'queued') {
    const status = cause === 'EXPIRED' ? 'expired' : 'cancelled';
    draft.add({ type: 'ORDER_ENDED', status, terminal_reason: cause });
    return draft.events;
  }
  draft.add({
    type: 'CANCEL_REQUESTED',
    cause,
    ...(reason === undefined ? {} : { reason }),
    ...(not_after === undefined ? {} : { not_after }),
  });
  return draft.events;
}

/** Drops a cancel that was not sent to the venue before its `not_after`. */
export function decideLateCancel(order: OrderState, at: Instant): OrderEvent[] {
  const { cancel } = order;
  if (cancel?.not_after === undefined || cancel.not_after > at || isTerminal(order)) return [];
  const draft = new OrderDraft(order, at);
  draft.add({ type: 'CANCEL_REFUSED', message: 'it was not handed to the venue in time' });
  return draft.events;
}

/** Fails a queued order that must not be sent any more. */
export function decideUnsent(order: OrderState, code: string, at: Instant): OrderEvent[] {
  if (order.status !== 'queued') return [];
  const draft = new OrderDraft(order, at);
  draft.add({ type: 'ORDER_ENDED', status: 'failed', terminal_reason: 'FAILED', failure: { code } });
  return draft.events;
}

/** The executor that was sending the order is gone, so it is unknown whether the venue has the order. */
export function decideDoubt(order: OrderState, reason: string, at: Instant): OrderEvent[] {
  const isSending = order.status === 'submitting' || order.cancel?.before === 'submitting';
  if (!isSending) return [];
  const draft = new OrderDraft(order, at);
  draft.add({ type: 'SUBMISSION_DOUBTED', reason });
  return draft.events;
}

/** When the order began to wait for an answer of the venue. Undefined if it does not wait. */
export function waitingSince(order: OrderState): Instant | undefined {
  const { cancel, amend, status, updated_at } = order;
  if (isTerminal(order)) return undefined;
  if (cancel !== undefined) return cancel.requested_at;
  if (amend !== undefined) return amend.requested_at;
  return status === 'submitting' || status === 'pending_venue' ? updated_at : undefined;
}

export function decideStall(order: OrderState, at: Instant, latest: Instant): OrderEvent[] {
  const since = waitingSince(order);
  if (since === undefined || since > latest || order.stalled_since !== undefined) return [];
  const draft = new OrderDraft(order, at);
  draft.add({ type: 'ORDER_STALLED', is_stalled: true });
  return draft.events;
}
