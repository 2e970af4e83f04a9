import type { EndRequest } from './commands.js';
import type { Decision, Moment } from './decided.js';
import { checkOpen } from './open-check.js';
import { isPrintable, MAX_REASON_CHARS } from './printable.js';
import { rejected } from './rejection.js';
import type { AuctionState } from './state.js';

export function decideCancel(state: AuctionState, { by, reason }: EndRequest, { now }: Moment): Decision {
  const notOpen = checkOpen(state, now);
  if (notOpen !== undefined) return notOpen;
  if (reason !== undefined && !isPrintable(reason, MAX_REASON_CHARS)) {
    return rejected('INVALID_TERMS', `reason has at most ${MAX_REASON_CHARS} printable characters.`);
  }
  const data = reason === undefined ? { by } : { by, reason };
  return {
    ok: true,
    events: [
      { at: now, body: { type: 'AUCTION_CANCELLED', data } },
      { at: now, body: { type: 'AUCTION_COMPLETED', data: { status: 'CANCELLED' } } },
    ],
  };
}
