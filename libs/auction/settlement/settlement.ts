import type { AwardSettlement } from '../rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Hold, Route } from '../rules/terms.js';

/** One party of an award, with what is reserved of its balances for the award. */
export interface SettlingParty {
  readonly account: string;
  readonly hold: readonly Hold[];
}

/** Everything that the ledger needs to settle an award. */
export interface AwardToSettle {
  readonly award_id: string;
  readonly auction_id: string;
  /** Number of attempts that were reported so far. */
  readonly attempts: number;
  /** Nothing is settled after it. */
  readonly deadline: Instant;
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  /** In order of preference. The first route that both parties can settle is used. */
  readonly routes: readonly Pick<Route, 'venue' | 'contract_id' | 'outcome'>[];
  readonly buyer: SettlingParty;
  readonly seller: SettlingParty;
}

/**
 * The final outcome of an award, written at most once. `BLOCKED` is no outcome: no route can be settled at present, nothing was
 * written, and another attempt may succeed.
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
  /** Moves collateral and tokens of both parties in one transaction. Repeated calls change nothing more. */
  settle(award: AwardToSettle): Promise<SettlementAttempt>;
  /** Gives the award up unless it was settled before. Returns the outcome that is recorded. */
  abandon(awardId: string, reason: string): Promise<SettlementOutcome>;
  /** The recorded outcome, if there is one. */
  outcomeOf(awardId: string): Promise<SettlementOutcome | undefined>;
}
