import type { Need } from '#libs/auction/holds.js';
import type { Instant } from '#libs/auction/instant.js';
import type { ResourceType } from '#libs/auction/terms.js';
import type { Capacity, RouteCapacity } from './capacity.js';

export interface RouteVerdict {
  readonly venue: string;
  readonly resource_type: ResourceType;
  readonly maximum_executable_quantity_atoms: string;
  readonly risk_source_sequence: string;
  readonly risk_valid_until: Instant;
  readonly authority_valid_until: Instant;
}

/** The documented answer of both preflights; quantities are strings of digits here. */
export interface Verdict {
  readonly status: 'EXECUTABLE' | 'INSUFFICIENT_CAPACITY';
  readonly requested_quantity_atoms: string;
  readonly maximum_executable_quantity_atoms: string;
  readonly checked_at: Instant;
  readonly valid_until: Instant;
  readonly routes: readonly RouteVerdict[];
}

export function verdictOf(need: Need, capacity: Capacity, checkedAt: Instant): Verdict {
  return {
    status: need.quantity_atoms <= capacity.maximum ? 'EXECUTABLE' : 'INSUFFICIENT_CAPACITY',
    requested_quantity_atoms: String(need.quantity_atoms),
    maximum_executable_quantity_atoms: String(capacity.maximum),
    checked_at: checkedAt,
    valid_until: validUntil(capacity.routes) ?? checkedAt,
    routes: capacity.routes.map(routeVerdict),
  };
}

function routeVerdict(route: RouteCapacity): RouteVerdict {
  return {
    venue: route.venue,
    resource_type: route.binding,
    maximum_executable_quantity_atoms: String(route.maximum),
    risk_source_sequence: String(route.source_sequence),
    risk_valid_until: route.risk_valid_until,
    authority_valid_until: route.authority_valid_until,
  };
}

function validUntil(routes: readonly RouteCapacity[]): Instant | undefined {
  return routes.flatMap((route) => [route.risk_valid_until, route.authority_valid_until]).sort()[0];
}
