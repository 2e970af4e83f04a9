import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';

export type Side = 'BUY' | 'SELL';
export type Allocation = 'SINGLE_WINNER' | 'SPLIT';
export type QuoteRevisionPolicy = 'FREE' | 'IMPROVE_ONLY' | 'FINAL';
export type ResultDisclosure = 'OWN_RESULT' | 'WINNING_PRICE' | 'WINNING_PRICE_AND_RANK';
export type OriginatorIdentity = 'ANONYMOUS' | 'DISCLOSED' | 'WINNER_ONLY';
export type MakerIdentity = 'ANONYMOUS' | 'DISCLOSED_AFTER_AWARD';

/**
 * The version of the winner rule and of everything that decides about money. Each auction keeps the version it
 * opened with.
 */
export const RULE_VERSION = 1;

export interface Route {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly title: string;
}

/** The coarsest grid of the routes. */
export interface Grid {
  readonly price_tick_atoms: Atoms;
  readonly min_price_atoms: Atoms;
  readonly max_price_atoms: Atoms;
  readonly quantity_step_atoms: Atoms;
}

/** A party with its display name and its alias in this auction. */
export interface Party {
  readonly account_id: string;
  readonly display_name: string;
  readonly alias: string;
}

export interface IdentityPolicy {
  readonly originator: OriginatorIdentity;
  readonly market_makers: MakerIdentity;
}

/** All that is fixed when an auction opens. It never changes afterwards. */
export interface Terms {
  readonly auction_id: string;
  readonly rule_version: number;
  readonly originator: Party;
  readonly side: Side;
  readonly quantity_atoms: Atoms;
  readonly routes: readonly Route[];
  readonly grid: Grid;
  readonly limit_price_atoms?: Atoms;
  readonly min_fill_quantity_atoms: Atoms;
  readonly allocation: Allocation;
  readonly max_winners: number;
  readonly opened_at: Instant;
  readonly closes_at: Instant;
  readonly quote_revision_policy: QuoteRevisionPolicy;
  readonly audience: readonly Party[];
  readonly identity_policy: IdentityPolicy;
  readonly result_disclosure: ResultDisclosure;
  readonly execution_deadline_ms: number;
  readonly client_reference?: string;
}

/** What an account has set aside. `asset` is contract and outcome for an outcome token, else empty. */
export interface Hold {
  readonly venue: string;
  readonly resource: ResourceType;
  readonly asset: string;
  readonly amount: Atoms;
}

export type ResourceType = 'COLLATERAL' | 'OUTCOME_TOKEN' | 'VENUE_POSITION_LIMIT' | 'SERVICE_EXPOSURE_LIMIT';

/** The makers' side of an auction. */
export function opposite(side: Side): Side {
  return side === 'BUY' ? 'SELL' : 'BUY';
}

/** The price at which the originator's resources are reserved: the worst that an award could cost. */
export function originatorReservePrice(terms: Pick<Terms, 'side' | 'limit_price_atoms' | 'grid'>): Atoms {
  if (terms.limit_price_atoms !== undefined) return terms.limit_price_atoms;
  return terms.side === 'BUY' ? terms.grid.max_price_atoms : terms.grid.min_price_atoms;
}
