import type { EndRequest } from '../commands.js';
import { completed } from '../completion.js';
import type { Decision, Moment } from '../decided.js';
import { checkOpen } from './open-check.js';
import { checkReason } from './printable.js';
import type { AuctionState } from '../state.js';

export function decideCancel(state: AuctionState, { by, reason }: EndRequest, { now }: Moment): Decision {
  const refusal = checkOpen(state, now) ?? checkReason(reason);
  if (refusal !== undefined) return refusal;
  const data = reason === undefined ? { by } : { by, reason };
  return {
    ok: true,
    events: [{ at: now, body: { type: 'AUCTION_CANCELLED', data } }, completed(now, 'CANCELLED')],
  };
}
