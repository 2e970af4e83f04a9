import { decideClose, decideExpiries } from '../../rules/decide/close.js';
import { decideCompletion } from '../../rules/completion.js';
import type { Decided } from '../../rules/decided.js';
import type { DomainEvent } from '../../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState } from '../../rules/state.js';
import type { AuctionEntry } from '../memory/auction-book.js';
import { draftsOf, eventsOf } from './drafts.js';
import type { ShardContext } from './shard-context.js';

const OUTCOME_TYPES: ReadonlySet<DomainEvent['type']> = new Set<DomainEvent['type']>([
  'AUCTION_AWARDED',
  'AUCTION_NOT_AWARDED',
  'AUCTION_COMPLETED',
]);

/**
 * Events that are due by `now`: expired quotes, the close, the outcome, and the remainder of a decision that was only partly
 * journaled. An owner whose clock is unsound closes nothing.
 */
export function dueEvents(entry: AuctionEntry, now: Instant, context: ShardContext): DomainEvent[] {
  return context.clockIsSound() ? eventsOf(draftsOf(entry.head, decideDue(entry, now, context))) : [];
}

/** The outcome waits until the close is durable and the awards are counted: see `AwardCount`. */
function decideDue(
  { head, mayDecide }: AuctionEntry,
  now: Instant,
  { ids }: ShardContext,
): readonly Decided[] {
  if (!isPastClose(head, now))
    return head.status === 'OPEN' ? decideExpiries(head, now) : decideCompletion(head);
  const closing = decideClose(head, { awardId: (quoteId) => ids.award(quoteId) });
  return mayDecide ? closing : closing.filter(({ body: { type } }) => !OUTCOME_TYPES.has(type));
}

/** The closing time is past and the outcome is not decided. A refusal must not be journaled before the outcome. */
export function isPastClose(state: AuctionState, now: Instant): boolean {
  return (state.status === 'OPEN' && now >= state.terms.closes_at) || isUndecided(state);
}

/** The auction is closed, and only the winner rule may decide. */
export function isUndecided({ status, not_awarded_reason: reason }: AuctionState): boolean {
  return status === 'CLOSED' && reason === undefined;
}
