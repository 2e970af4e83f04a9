import type { AwardSettlement } from '../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Hold, Route } from '../rules/terms.js';

/** One side of an award with what it has set aside for it. */
export interface SettlingParty {
  readonly account: string;
  readonly hold: readonly Hold[];
}

/** All that the ledger has to know of an award. */
export interface AwardToSettle {
  readonly award_id: string;
  readonly auction_id: string;
  /** Attempts that were told of so far. */
  readonly attempts: number;
  /** Nothing is settled after it. */
  readonly deadline: Instant;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  /** In execution preference; the first that both parties can carry is used. */
  readonly routes: readonly Pick<Route, 'venue' | 'contract_id' | 'outcome'>[];
  readonly buyer: SettlingParty;
  readonly seller: SettlingParty;
}

/**
 * What stands for an award, for ever: one of the two is written at most once. `BLOCKED` is no outcome: no route can be
 * carried at present, nothing was written, and another attempt may succeed.
 */
export type SettlementOutcome =
  | {
      readonly outcome: 'SETTLED';
      readonly award_id: string;
      readonly settlement: AwardSettlement;
    }
  | { readonly outcome: 'FAILED'; readonly award_id: string; readonly reason: string };

export type SettlementAttempt =
  SettlementOutcome | { readonly outcome: 'BLOCKED'; readonly award_id: string; readonly reason: string };

export interface SettlementDesk {
  /** Moves collateral and tokens of both parties in one transaction, once, however often it is called. */
  settle(award: AwardToSettle): Promise<SettlementAttempt>;
  /** Gives the award up unless it was settled before; tells which of the two stands. */
  abandon(awardId: string, reason: string): Promise<SettlementOutcome>;
  /** What stands, if anything does. */
  outcomeOf(awardId: string): Promise<SettlementOutcome | undefined>;
}
