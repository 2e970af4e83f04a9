import type { WithdrawRequest } from '../commands.js';
import type { Decision, Moment } from '../decided.js';
import { checkOpen, standingQuote } from './open-check.js';
import { conflict, rejected } from '#libs/base/rejection.js';
import type { AuctionState } from '../state.js';

/** Under IMPROVE_ONLY and FINAL no party may withdraw a quote before the close. */
export function decideWithdraw(state: AuctionState, request: WithdrawRequest, { now }: Moment): Decision {
  const notOpen = checkOpen(state, now);
  if (notOpen !== undefined) return notOpen;
  const quote = standingQuote(state, request.quote_id, now);
  if (quote === undefined) return rejected('QUOTE_NOT_WITHDRAWABLE', 'The quote is not active any more.');
  if (state.terms.quote_revision_policy !== 'FREE') {
    return rejected('QUOTE_NOT_WITHDRAWABLE', 'Quotes of this auction stand until it closes.');
  }
  if (request.expected_revision !== undefined && request.expected_revision !== quote.revision) {
    return conflict('quote_revision_conflict', `The quote is at revision ${quote.revision}.`);
  }
  const data = { quote_id: quote.quote_id, maker: quote.maker, by: request.by };
  return { ok: true, events: [{ at: now, body: { type: 'QUOTE_WITHDRAWN', data } }] };
}
