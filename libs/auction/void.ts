import type { EndRequest } from './commands.js';
import { completed } from './completion.js';
import type { Decision, Moment } from './decided.js';
import { checkOpen } from './open-check.js';
import type { AuctionState } from './state.js';

/** An operator's decision, or the end of a market on one of the routes. A halt voids nothing. */
export function decideVoid(state: AuctionState, { by, reason }: EndRequest, { now }: Moment): Decision {
  const notOpen = checkOpen(state, now);
  if (notOpen !== undefined) return notOpen;
  const data = reason === undefined ? { by } : { by, reason };
  return {
    ok: true,
    events: [{ at: now, body: { type: 'AUCTION_VOIDED', data } }, completed(now, 'VOIDED')],
  };
}
