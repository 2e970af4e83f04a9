import { canRest } from '../evolve.js';
import { isTerminal, isUnplaced, type OrderFailure, type OrderState, type TerminalReason } from '../order.js';
import type { OrderChange, OrderDraft } from './order-draft.js';
import type { SeenFill, SeenOrder, Unfilled } from './seen.js';

type End = Extract<OrderChange, { type: 'ORDER_ENDED' }>;

/** Whether the venue is not known to have the order. While a cancel waits, the status before the cancel counts. */
export function isUnplacedYet(order: OrderState): boolean {
  return isUnplaced(order) || (order.cancel !== undefined && isUnplaced({ status: order.cancel.before }));
}

/** Books each fill once. */
export function bookFills(draft: OrderDraft, fills: readonly SeenFill[]): void {
  for (const { fill, exchange_order_id } of fills) {
    if (draft.state.fill_ids.includes(fill.fill_id)) continue;
    draft.add({ type: 'ORDER_FILLED', fill, exchange_order_id });
  }
}

/**
 * Applies the state that the venue shows. Book its fills first: the order ends only when every fill that the venue counts is booked.
 * Returns false if fills are missing and the venue must be queried again.
 */
export function settleSeen(draft: OrderDraft, seen: SeenOrder, unfilled?: Unfilled): boolean {
  const { state } = draft;
  const isNew = state.exchange_order_id === undefined || isUnplacedYet(state) || state.status === 'failed';
  if (isNew && seen.status !== 'rejected' && !(isTerminal(state) && state.status !== 'failed')) {
    if (seen.status === 'resting' || state.status !== 'failed')
      draft.add({ type: 'ORDER_PLACED', exchange_order_id: seen.exchange_order_id });
  }
  if (isTerminal(draft.state)) return true;
  if (seen.filled > draft.state.filled || seen.status === 'filled') return false;
  if (seen.status !== 'resting') draft.add(endOf(draft.state, seen, unfilled));
  return true;
}

function failed(code: string): End {
  return { type: 'ORDER_ENDED', status: 'failed', terminal_reason: 'FAILED', failure: { code } };
}

function cancelled(terminal_reason: TerminalReason): End {
  const status = terminal_reason === 'EXPIRED' ? 'expired' : 'cancelled';
  return { type: 'ORDER_ENDED', status, terminal_reason };
}

function endOf(state: OrderState, seen: SeenOrder, unfilled?: Unfilled): End {
  const hasTraded = state.filled > 0n;
  if (seen.status === 'rejected' && !hasTraded) return failed('VENUE_REJECTED');
  if (seen.status === 'expired' || seen.ended_by === 'expiry') return cancelled('EXPIRED');
  if (seen.ended_by === 'market-closed') return cancelled('MARKET_CLOSED');
  if (seen.ended_by === 'self-trade' || unfilled === 'own-order')
    return hasTraded ? cancelled('UNFILLED_REMAINDER') : failed('SELF_TRADE_PREVENTED');
  if (!canRest(state.terms)) return endOfRemainder(state, unfilled);
  return cancelled(state.cancel?.cause ?? 'VENUE');
}

/** The end of an order that cannot rest: why the book did not fill the remainder. */
function endOfRemainder({ filled, terms }: OrderState, unfilled: Unfilled | undefined): End {
  if (filled > 0n) return cancelled('UNFILLED_REMAINDER');
  if (terms.time_in_force === 'FOK') return failed('FOK_NOT_FILLED');
  if (terms.kind === 'limit') return cancelled('UNFILLED_REMAINDER');
  return failed(unfilled === 'beyond-bound' ? 'SLIPPAGE_EXCEEDED' : 'NO_LIQUIDITY');
}

/** Ends an order that provably never reached the venue's book. */
export function endUnplaced(draft: OrderDraft, failure: OrderFailure): void {
  const { cancel } = draft.state;
  draft.add(
    cancel === undefined
      ? { type: 'ORDER_ENDED', status: 'failed', terminal_reason: 'FAILED', failure }
      : cancelled(cancel.cause),
  );
}
