import type { ContractFacts } from '../../rules/commands.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { Route } from '../../rules/terms.js';

export type RouteKey = Pick<Route, 'venue' | 'contract_id' | 'outcome'>;
export type HaltScope = 'GLOBAL' | 'VENUE' | 'MARKET' | 'PRINCIPAL';
export type Haltable = 'CREATE' | 'QUOTE';

export interface Halt {
  readonly halt_id: string;
  readonly scope: HaltScope;
  /** Venue, contract id or account id. Absent for GLOBAL. */
  readonly target?: string;
  readonly what: readonly Haltable[];
  readonly reason: string;
  readonly by: string;
  readonly created_at: Instant;
}

/** A registered account and what it may do. Without a policy row it may do nothing. */
export interface TradingPrincipal {
  readonly account_id: string;
  readonly display_name: string;
  readonly is_maker: boolean;
  readonly is_originator: boolean;
  readonly suspended: boolean;
  readonly may_create: boolean;
  readonly may_quote: boolean;
  readonly venues: ReadonlySet<string>;
  readonly max_quantity_atoms: Atoms;
  readonly control_group?: string;
}

export interface MakerGroup {
  readonly group_id: string;
  readonly owner: string;
  readonly name: string;
  readonly market_maker_ids: readonly string[];
}

/** Versions of the parts of the policy. A part's version grows with every change of it. */
export interface PartVersions {
  readonly contracts: number;
  readonly principals: number;
  readonly halts: number;
  readonly groups: number;
  readonly protection: number;
}

/** The policy at one version. Never changed, only replaced. */
export interface PolicySnapshot {
  readonly version: number;
  readonly parts: PartVersions;
  /** By `contractKey`. */
  readonly contracts: ReadonlyMap<string, ContractFacts>;
  readonly principals: ReadonlyMap<string, TradingPrincipal>;
  readonly halts: readonly Halt[];
  readonly groups: ReadonlyMap<string, MakerGroup>;
  /** Makers whose protection tripped, and until when they may not quote. */
  readonly frozen: ReadonlyMap<string, Instant>;
}

/** A control character separates the parts, so that no two keys are equal. */
export function contractKey({ venue, contract_id, outcome }: RouteKey): string {
  return `${venue}\u0000${contract_id}\u0000${outcome}`;
}

/** In the order of the routes. Undefined where the registry has no such contract. */
export function contractsFor(
  snapshot: PolicySnapshot,
  routes: readonly RouteKey[],
): readonly (ContractFacts | undefined)[] {
  return routes.map((route) => snapshot.contracts.get(contractKey(route)));
}
