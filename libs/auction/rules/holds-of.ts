import { hasEnded } from './completion.js';
import { holdOf } from './held.js';
import { activeQuotes, type AuctionState } from './state.js';
import type { Hold } from './terms.js';

/** All that an auction has set aside now, by account. Recovery restores the reservations to exactly this. */
export function holdsOf(state: AuctionState): Map<string, Hold[]> {
  const held = new Map<string, Hold[]>();
  const add = (account: string, hold: readonly Hold[]): void => {
    const sum = held.get(account);
    if (sum === undefined) held.set(account, [...hold]);
    else sum.push(...hold);
  };
  const originator = state.terms.originator.account_id;
  if (isUndecided(state)) {
    add(originator, holdOf(state));
    for (const quote of activeQuotes(state)) add(quote.maker, holdOf(quote));
  }
  for (const award of state.awards) {
    if (hasEnded(award.execution_status)) continue;
    add(award.maker, award.maker_hold);
    add(originator, award.originator_hold);
  }
  return held;
}

/** Holds are released by the decision, not by the completion event that follows it. */
function isUndecided({ status, not_awarded_reason: reason }: AuctionState): boolean {
  return status === 'OPEN' || (status === 'CLOSED' && reason === undefined);
}
