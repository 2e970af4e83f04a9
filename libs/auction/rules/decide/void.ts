import type { EndRequest } from '../commands.js';
import { completed } from '../completion.js';
import type { Decision, Moment } from '../decided.js';
import { checkOpen, checkReason } from './open-check.js';
import { rejected, type Rejection } from '#libs/base/rejection.js';
import type { AuctionState } from '../state.js';

/** Voids by an operator, or by the system when a market of the routes ends. A halt voids nothing. */
export function decideVoid(state: AuctionState, request: EndRequest, { now }: Moment): Decision {
  const { by, reason, operator } = request;
  const refusal = checkOpen(state, now) ?? (by === 'OPERATOR' ? checkOrder(reason) : checkReason(reason));
  if (refusal !== undefined) return refusal;
  const data = {
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(operator === undefined ? {} : { operator }),
  };
  return {
    ok: true,
    events: [{ at: now, body: { type: 'AUCTION_VOIDED', data } }, completed(now, 'VOIDED')],
  };
}

/** An operator must give a reason. */
function checkOrder(reason: string | undefined): Rejection | undefined {
  return reason === undefined || reason === ''
    ? rejected('INVALID_TERMS', 'An auction is not voided without a reason.')
    : checkReason(reason);
}

export function decideCancel(state: AuctionState, { by, reason }: EndRequest, { now }: Moment): Decision {
  const refusal = checkOpen(state, now) ?? checkReason(reason);
  if (refusal !== undefined) return refusal;
  const data = reason === undefined ? { by } : { by, reason };
  return {
    ok: true,
    events: [{ at: now, body: { type: 'AUCTION_CANCELLED', data } }, completed(now, 'CANCELLED')],
  };
}
