import { tokensIn } from '../decide/close.js';
import { holdFor, type Need } from '../holds.js';
import type { Hold } from '../terms.js';

/** What `need` asks to be set aside by a party whose outcome tokens are those of `hold`: the same again, if it was right. */
export function holdNeeded(need: Need, hold: readonly Hold[]): Hold[] {
  return holdFor(need, (route) => tokensIn(hold, route));
}
