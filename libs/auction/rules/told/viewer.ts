import { hasEnded } from '../completion.js';
import type { Instant } from '#libs/base/instant.js';
import {
  bookOf,
  findQuote,
  type AuctionState,
  type AuctionStatus,
  type Award,
  type ExecutionStatus,
  type Quote,
} from '../state.js';
import type { Terms } from '../terms.js';

/** A party that may see an auction. For any other account there is no such auction. */
export interface Viewer {
  readonly account_id: string;
  readonly role: ViewerRole;
}
export type ViewerRole = 'ORIGINATOR' | 'MARKET_MAKER';

/** `COMPLETED` is the status for a maker without an award while the auction goes on for others. */
export type ViewedStatus = AuctionStatus | 'COMPLETED';

const STATUS_OF_A_WINNER: Readonly<Record<ExecutionStatus, AuctionStatus>> = {
  PENDING: 'AWARDED',
  SUBMITTED: 'EXECUTING',
  CONFIRMED: 'SETTLED',
  FAILED: 'EXECUTION_FAILED',
};

export function viewerOf(auction: AuctionState | Terms, accountId: string): Viewer | undefined {
  const terms = 'terms' in auction ? auction.terms : auction;
  if (terms.originator.account_id === accountId) return { account_id: accountId, role: 'ORIGINATOR' };
  if (!terms.audience.some((party) => party.account_id === accountId)) return undefined;
  return { account_id: accountId, role: 'MARKET_MAKER' };
}

/** Whether the winner rule has been applied, with or without an award. */
export function isDecided(state: AuctionState): boolean {
  return state.awards.length > 0 || state.not_awarded_reason !== undefined;
}

/** A maker has at most one award, because only one of its quotes can win. */
export function awardOf(state: AuctionState, maker: string): Award | undefined {
  return state.awards.find((award) => award.maker === maker);
}

/** The maker's quote that the winner rule judged. Undefined before the decision. */
export function judgedQuote(state: AuctionState, maker: string): Quote | undefined {
  const last = bookOf(state, maker)?.quotes.at(-1);
  return last?.result === undefined ? undefined : last;
}

/**
 * The status for the viewer. After the decision a maker sees its own part only: without an award the auction is
 * over at the close, else it ends with its own award. It never sees the execution of others.
 */
export function statusFor(state: AuctionState, viewer: Viewer): ViewedStatus {
  if (viewer.role === 'ORIGINATOR' || !isDecided(state)) return state.status;
  const award = awardOf(state, viewer.account_id);
  if (award !== undefined) return STATUS_OF_A_WINNER[award.execution_status];
  const isUnawarded = state.awards.length === 0;
  return isUnawarded && judgedQuote(state, viewer.account_id) !== undefined ? 'NO_AWARD' : 'COMPLETED';
}

/** When the auction was over for this viewer: the time of its AUCTION_COMPLETED. */
export function completionFor(state: AuctionState, viewer: Viewer): Instant | undefined {
  if (viewer.role === 'ORIGINATOR' || !isDecided(state)) return state.completed_at;
  const award = awardOf(state, viewer.account_id);
  if (award === undefined) return state.terms.closes_at;
  return hasEnded(award.execution_status) ? findQuote(state, award.quote_id)?.updated_at : undefined;
}

/** Whether nothing later can reach this viewer. */
export function isOverFor(state: AuctionState, viewer: Viewer): boolean {
  return completionFor(state, viewer) !== undefined;
}
