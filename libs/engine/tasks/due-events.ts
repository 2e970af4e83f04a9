import { decideClose } from '#libs/auction/decide/close.js';
import { decideCompletion } from '#libs/auction/completion.js';
import type { Decided } from '#libs/auction/decided.js';
import { decideExpiries } from '#libs/auction/decide/expire.js';
import type { Instant } from '#libs/auction/instant.js';
import type { AuctionState } from '#libs/auction/state.js';
import type { Draft } from '../task.js';
import type { ShardContext } from './shard-context.js';

/**
 * What has fallen due for the auction by `now`: quotes that expired, the close with its award, and whatever is missing of a
 * decision within which a journal ended. An owner whose clock is not to be trusted closes nothing.
 */
export function dueDrafts(state: AuctionState, now: Instant, context: ShardContext): Draft[] {
  return context.clockIsSound() ? draftsOf(state, dueEvents(state, now, context)) : [];
}

function dueEvents(state: AuctionState, now: Instant, { ids }: ShardContext): readonly Decided[] {
  if (state.status === 'OPEN' && now < state.terms.closes_at) return decideExpiries(state, now);
  if (state.status === 'OPEN' || state.status === 'CLOSED') {
    return decideClose(state, { awardId: (quoteId) => ids.award(quoteId) });
  }
  return decideCompletion(state);
}

/** Its time is over and the close has not been decided: what is refused now must not come to stand before the close. */
export function isPastClose({ status, terms }: AuctionState, now: Instant): boolean {
  return status === 'OPEN' && now >= terms.closes_at;
}

export function draftsOf(state: AuctionState, decided: readonly Decided[]): Draft[] {
  return decided.map(({ at, body }) => ({ at, body, auctionId: state.terms.auction_id }));
}
