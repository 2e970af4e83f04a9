import { holdFor, riskPrice, type Need } from '../../rules/holds.js';
import type { Reservation } from '../../rules/commands.js';
import type { Instant } from '#libs/base/instant.js';
import { affordable, type Atoms } from '#libs/base/money.js';
import { rejected, type RejectionCode, type Rejection } from '#libs/base/rejection.js';
import type { Hold, ResourceType, Side } from '../../rules/terms.js';
import { judgeFreshness, type Evidence, type EvidenceOf } from './evidence.js';
import {
  collateralOn,
  EXPOSURE,
  positionOn,
  resourceName,
  resourcesOf,
  tokensOn,
  type ResourceKey,
} from './resource-key.js';

/** What one account could carry on one route at one price, and which resource limits it. */
export interface RouteCapacity {
  readonly venue: string;
  readonly maximum: Atoms;
  readonly binding: ResourceType;
  readonly source_sequence: number;
  /** The earliest expiry of all evidence used. */
  readonly risk_valid_until: Instant;
  readonly authority_valid_until: Instant;
}

export interface Capacity {
  readonly ok: true;
  readonly maximum: Atoms;
  readonly routes: readonly RouteCapacity[];
  readonly free: (key: ResourceKey) => Atoms;
}

/** The account's evidence, and the hold that it already has: a revision may use its quote's hold. */
export interface Asker {
  readonly evidenceOf: EvidenceOf;
  readonly current: readonly Hold[];
  readonly now: Instant;
}

/** If several resources limit alike, the first in this order is named. */
const BINDING_ORDER: readonly ResourceType[] = [
  'COLLATERAL',
  'OUTCOME_TOKEN',
  'VENUE_POSITION_LIMIT',
  'SERVICE_EXPOSURE_LIMIT',
];

/**
 * The calculation of preflights and reservations: the largest quantity whose whole `holdFor` is free. Refuses if
 * evidence is missing or stale.
 */
export function capacityOf(need: Need, asker: Asker): Capacity | Rejection {
  const stale = firstStale(need, asker);
  if (stale !== undefined) return stale;
  const free = freeOf(asker);
  const routes = need.routes.map((route) => capacityOn(need, route, asker.evidenceOf, free));
  return { ok: true, routes, free, maximum: Math.min(...routes.map((route) => route.maximum)) };
}

/** The same calculation as a decision: the hold to set aside, or the refusal. */
export function decideHold(need: Need, asker: Asker): Reservation {
  const capacity = capacityOf(need, asker);
  if (!capacity.ok) return capacity;
  if (need.quantity_atoms > capacity.maximum) return shortage(need, capacity);
  return { ok: true, hold: holdFor(need, (route) => capacity.free(tokensOn(route))) };
}

/** A missing row means no tokens. For every other resource evidence is required. */
function firstStale(need: Need, { evidenceOf, now }: Asker): Rejection | undefined {
  for (const key of resourcesOf(need)) {
    const evidence = evidenceOf(key);
    if (evidence === undefined && key.resource === 'OUTCOME_TOKEN') continue;
    const stale = judgeFreshness(evidence, now);
    if (stale !== undefined) return stale;
  }
  return undefined;
}

/**
 * Between a settlement and the release of its holds, more may be reserved than there is. Then nothing is free, but
 * an account may still use its own hold.
 */
function freeOf({ evidenceOf, current }: Asker): (key: ResourceKey) => Atoms {
  const own = new Map<string, Atoms>();
  for (const hold of current) own.set(resourceName(hold), (own.get(resourceName(hold)) ?? 0) + hold.amount);
  return (key) => {
    const evidence = evidenceOf(key);
    const unreserved = evidence === undefined ? 0 : Math.max(0, evidence.amount - evidence.reserved);
    return unreserved + (own.get(resourceName(key)) ?? 0);
  };
}

function capacityOn(
  need: Need,
  route: Need['routes'][number],
  evidenceOf: EvidenceOf,
  free: (key: ResourceKey) => Atoms,
): RouteCapacity {
  const collateral = collateralOn(route.venue);
  const position = positionOn(route.venue);
  const inventory = tokensOn(route);
  const unitCost = riskPrice(need.side, need.price_atoms);
  const tokens = need.side === 'SELL' ? free(inventory) : 0;
  const funds = affordable(free(collateral) - (need.parts - 1), unitCost);
  const limits: (readonly [ResourceKey, Atoms])[] = [
    [tokens > 0 ? inventory : collateral, capped(tokens + funds)],
    [position, free(position)],
    [EXPOSURE, affordable(free(EXPOSURE) - (need.parts - 1), unitCost)],
  ];
  const maximum = Math.min(...limits.map(([, quantity]) => quantity));
  const [binding] = limits
    .filter(([, quantity]) => quantity === maximum)
    .map(([key]) => key)
    .sort((a, b) => BINDING_ORDER.indexOf(a.resource) - BINDING_ORDER.indexOf(b.resource));
  const used = [collateral, position, EXPOSURE, ...(need.side === 'SELL' ? [inventory] : [])].flatMap(
    (key) => evidenceOf(key) ?? [],
  );
  return {
    venue: route.venue,
    maximum,
    binding: binding?.resource ?? 'COLLATERAL',
    source_sequence: (binding === undefined ? undefined : evidenceOf(binding))?.source_sequence ?? 0,
    ...earliest(used),
  };
}

function capped(quantity: Atoms): Atoms {
  return Math.min(quantity, Number.MAX_SAFE_INTEGER);
}

function earliest(
  used: readonly Evidence[],
): Pick<RouteCapacity, 'risk_valid_until' | 'authority_valid_until'> {
  const first = (instants: Instant[]): Instant => instants.sort()[0] ?? '';
  return {
    risk_valid_until: first(used.map((evidence) => evidence.risk_valid_until)),
    authority_valid_until: first(used.map((evidence) => evidence.authority_valid_until)),
  };
}

function shortage(need: Need, capacity: Capacity): Rejection {
  const tightest = capacity.routes.find((route) => route.maximum === capacity.maximum);
  const code = shortageCode(need.side, tightest?.binding ?? 'COLLATERAL');
  return rejected(code, `At this price at most ${capacity.maximum} quantity atoms can be carried.`);
}

function shortageCode(side: Side, binding: ResourceType): RejectionCode {
  if (binding === 'VENUE_POSITION_LIMIT') return 'VENUE_LIMIT_EXCEEDED';
  if (binding === 'SERVICE_EXPOSURE_LIMIT') return 'SERVICE_CAPACITY_EXCEEDED';
  return side === 'BUY' ? 'INSUFFICIENT_COLLATERAL' : 'INSUFFICIENT_INVENTORY';
}
