import type { CancelledBy, WithdrawnBy } from './events.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type {
  Allocation,
  Hold,
  IdentityPolicy,
  Party,
  QuoteRevisionPolicy,
  ResultDisclosure,
  Side,
} from './terms.js';
import type { Rejection } from '#libs/base/rejection.js';

/** The create body after the gateway has parsed it: field types are right, nothing else is checked yet. */
export interface CreateBody {
  readonly side: Side;
  readonly quantity_atoms: Atoms;
  readonly routes: readonly {
    readonly venue: string;
    readonly contract_id: string;
    readonly outcome: string;
  }[];
  readonly limit_price_atoms?: Atoms;
  readonly min_fill_quantity_atoms?: Atoms;
  readonly allocation?: Allocation;
  readonly max_winners?: number;
  readonly duration_ms?: number;
  readonly closes_at?: Instant;
  readonly quote_revision_policy?: QuoteRevisionPolicy;
  readonly audience: AudienceRequest;
  readonly identity_policy?: Partial<IdentityPolicy>;
  readonly result_disclosure?: ResultDisclosure;
  readonly execution_deadline_ms?: number;
  readonly client_reference?: string;
}

export interface AudienceRequest {
  readonly market_maker_ids?: readonly string[];
  readonly group_ids?: readonly string[];
  readonly all_eligible?: true;
  readonly exclude_market_maker_ids?: readonly string[];
}

export interface SubmitBody {
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  readonly min_quantity_atoms?: Atoms;
  readonly expires_at?: Instant;
  readonly client_reference?: string;
}

export interface ReviseBody extends Partial<SubmitBody> {
  readonly expected_revision: number;
}

/** A registered contract as the registry knows it at the time of the command. */
export interface ContractFacts {
  readonly venue: string;
  readonly contract_id: string;
  readonly outcome: string;
  readonly title: string;
  readonly equivalence_id: string;
  readonly price_tick_atoms: Atoms;
  readonly quantity_step_atoms: Atoms;
  readonly status: 'TRADING' | 'PAUSED' | 'CLOSED';
  readonly closes_at: Instant;
}

/**
 * What the policy store, the registry and the clock say about a create. It is read before the rules run; they only
 * judge it. `audience` is already resolved: eligible makers only, without the originator's house.
 */
export interface CreateFacts {
  readonly auction_id: string;
  readonly originator: Party;
  readonly now: Instant;
  /** In the order of the routes. Undefined where the registry has no such contract. */
  readonly contracts: readonly (ContractFacts | undefined)[];
  readonly audience: ResolvedAudience;
  /** A refusal of the economic policy store: suspension, entitlement, halts, size. */
  readonly policy: Rejection | undefined;
}

export type ResolvedAudience = { readonly ok: true; readonly makers: readonly Party[] } | Rejection;

/** The outcome of the reservation. Undefined while the rules are only asked whether it is worth trying. */
export type Reservation = { readonly ok: true; readonly hold: readonly Hold[] } | Rejection;

export interface QuoteFacts {
  readonly maker: string;
  readonly now: Instant;
  readonly policy: Rejection | undefined;
}

export interface WithdrawRequest {
  readonly quote_id: string;
  readonly by: WithdrawnBy;
  readonly expected_revision?: number;
}

export interface EndRequest {
  readonly by: CancelledBy;
  readonly reason?: string;
  /** The operator who gave the order, if one did. */
  readonly operator?: string;
}
