import { activeQuotes, type AuctionState } from './state.js';
import type { Hold } from './terms.js';

/** Everything that an auction has set aside at present, by account. Recovery makes the reservations say just this. */
export function holdsOf(state: AuctionState): Map<string, Hold[]> {
  const held = new Map<string, Hold[]>();
  const add = (account: string, hold: readonly Hold[]): void => {
    const sum = held.get(account);
    if (sum === undefined) held.set(account, [...hold]);
    else sum.push(...hold);
  };
  const originator = state.terms.originator.account_id;
  if (state.status === 'OPEN' || state.status === 'CLOSED') {
    add(originator, state.hold);
    for (const quote of activeQuotes(state)) add(quote.maker, quote.hold);
  }
  for (const award of state.awards) {
    if (award.execution_status === 'CONFIRMED' || award.execution_status === 'FAILED') continue;
    add(award.maker, award.maker_hold);
    add(originator, award.originator_hold);
  }
  return held;
}
