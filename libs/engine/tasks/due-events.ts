import { decideClose } from '#libs/auction/decide/close.js';
import { decideCompletion } from '#libs/auction/completion.js';
import type { Decided } from '#libs/auction/decided.js';
import { decideExpiries } from '#libs/auction/decide/expire.js';
import type { Instant } from '#libs/auction/instant.js';
import type { AuctionState } from '#libs/auction/state.js';
import type { Entry } from '../memory/auction-book.js';
import type { Draft } from '../task.js';
import type { ShardContext } from './shard-context.js';

/**
 * What has fallen due for the auction by `now`: quotes that expired, the close with its award, and whatever is missing of a
 * decision within which a journal ended. An owner whose clock is not to be trusted closes nothing, and none closes
 * before the awards are counted.
 */
export function dueDrafts(entry: Entry, now: Instant, context: ShardContext): Draft[] {
  return context.clockIsSound() ? draftsOf(entry.head, dueEvents(entry, now, context)) : [];
}

function dueEvents({ head, mayClose }: Entry, now: Instant, { ids }: ShardContext): readonly Decided[] {
  if (isCloseDue(head, now)) {
    return mayClose ? decideClose(head, { awardId: (quoteId) => ids.award(quoteId) }) : [];
  }
  return head.status === 'OPEN' ? decideExpiries(head, now) : decideCompletion(head);
}

/** The close, or the decision that follows it, is all that the auction waits for. */
export function isCloseDue(state: AuctionState, now: Instant): boolean {
  return isPastClose(state, now) || (state.status === 'CLOSED' && state.not_awarded_reason === undefined);
}

/** Its time is over and the close has not been decided: what is refused now must not come to stand before the close. */
export function isPastClose({ status, terms }: AuctionState, now: Instant): boolean {
  return status === 'OPEN' && now >= terms.closes_at;
}

export function draftsOf(state: AuctionState, decided: readonly Decided[]): Draft[] {
  return decided.map(({ at, body }) => ({ at, body, auctionId: state.terms.auction_id }));
}
