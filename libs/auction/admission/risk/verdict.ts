import type { Need } from '../../rules/holds.js';
import type { Instant } from '#libs/base/instant.js';
import type { Atoms } from '#libs/base/money.js';
import type { ResourceType } from '../../rules/terms.js';
import type { Capacity, RouteCapacity } from './capacity.js';

export interface RouteVerdict {
  readonly venue: string;
  readonly resource_type: ResourceType;
  readonly maximum_executable_quantity_atoms: string;
  readonly risk_source_sequence: string;
  readonly risk_valid_until: Instant;
  readonly authority_valid_until: Instant;
}

/** The documented answer of both preflights. Quantities are strings of digits here. */
export interface PreflightVerdict {
  readonly status: 'EXECUTABLE' | 'INSUFFICIENT_CAPACITY';
  readonly requested_quantity_atoms: string;
  readonly maximum_executable_quantity_atoms: string;
  readonly checked_at: Instant;
  readonly valid_until: Instant;
  readonly routes: readonly RouteVerdict[];
}

interface VerdictOptions {
  readonly now: Instant;
  /** Only multiples of this can be quoted. */
  readonly step: Atoms;
}

export function verdictOf(need: Need, capacity: Capacity, { now, step }: VerdictOptions): PreflightVerdict {
  return {
    status: need.quantity_atoms <= capacity.maximum ? 'EXECUTABLE' : 'INSUFFICIENT_CAPACITY',
    requested_quantity_atoms: String(need.quantity_atoms),
    maximum_executable_quantity_atoms: floored(capacity.maximum, step),
    checked_at: now,
    valid_until: validUntil(capacity.routes) ?? now,
    routes: capacity.routes.map((route) => routeVerdict(route, step)),
  };
}

function floored(quantity: Atoms, step: Atoms): string {
  return String(quantity - (quantity % step));
}

function routeVerdict(route: RouteCapacity, step: Atoms): RouteVerdict {
  return {
    venue: route.venue,
    resource_type: route.binding,
    maximum_executable_quantity_atoms: floored(route.maximum, step),
    risk_source_sequence: String(route.source_sequence),
    risk_valid_until: route.risk_valid_until,
    authority_valid_until: route.authority_valid_until,
  };
}

function validUntil(routes: readonly RouteCapacity[]): Instant | undefined {
  return routes.flatMap((route) => [route.risk_valid_until, route.authority_valid_until]).sort()[0];
}
