import type { Decided } from './decided.js';
import type { CompletedStatus } from './events.js';
import type { Instant } from '#libs/base/instant.js';
import { findQuote, type AuctionState, type ExecutionStatus } from './state.js';

export function completed(at: Instant, status: CompletedStatus): Decided {
  return { at, body: { type: 'AUCTION_COMPLETED', data: { status } } };
}

export function hasEnded(status: ExecutionStatus): boolean {
  return status === 'CONFIRMED' || status === 'FAILED';
}

/** The final status of the auction once every award has ended. Undefined before. */
export function settlementOf(statuses: readonly ExecutionStatus[]): CompletedStatus | undefined {
  if (statuses.length === 0 || !statuses.every(hasEnded)) return undefined;
  if (statuses.every((status) => status === 'CONFIRMED')) return 'SETTLED';
  return statuses.includes('CONFIRMED') ? 'PARTIALLY_SETTLED' : 'EXECUTION_FAILED';
}

/**
 * The completion event that the journal still lacks, if all else has happened. A decision is journaled whole, so
 * normally there is none. Recovery adds it where a journal ends in the middle of a decision.
 */
export function decideCompletion(state: AuctionState): readonly Decided[] {
  if (state.completed_at !== undefined) return [];
  if (state.cancellation !== undefined) {
    const status = state.status === 'VOIDED' ? 'VOIDED' : 'CANCELLED';
    return [completed(state.cancellation.at, status)];
  }
  if (state.not_awarded_reason !== undefined) return [completed(state.terms.closes_at, 'NO_AWARD')];
  const settlement = settlementOf(state.awards.map((award) => award.execution_status));
  return settlement === undefined ? [] : [completed(lastExecution(state), settlement)];
}

function lastExecution(state: AuctionState): Instant {
  return state.awards
    .map((award) => findQuote(state, award.quote_id)?.updated_at ?? state.terms.closes_at)
    .reduce((latest, at) => (at > latest ? at : latest));
}
