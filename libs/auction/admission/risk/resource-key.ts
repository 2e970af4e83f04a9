import { assetOf, type Need } from '../../rules/holds.js';
import type { ResourceType, Route } from '../../rules/terms.js';

/**
 * A resource of one account. `asset` is empty unless it is a token; `venue` is empty for exposure, which counts
 * over all venues.
 */
export interface ResourceKey {
  readonly venue: string;
  readonly resource: ResourceType;
  readonly asset: string;
}

export interface AccountKey extends ResourceKey {
  readonly account: string;
  /** The whole key as one text, used as the name in maps. */
  readonly name: string;
}

export const EXPOSURE: ResourceKey = { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '' };

type RouteKey = Pick<Route, 'venue' | 'contract_id' | 'outcome'>;

export function collateralOn(venue: string): ResourceKey {
  return { venue, resource: 'COLLATERAL', asset: '' };
}

export function positionOn(venue: string): ResourceKey {
  return { venue, resource: 'VENUE_POSITION_LIMIT', asset: '' };
}

export function tokensOn(route: RouteKey): ResourceKey {
  return { venue: route.venue, resource: 'OUTCOME_TOKEN', asset: assetOf(route) };
}

/** All quotes of an auction share one `routes` object, so the resources are cached by it, for each side. */
const cached: Readonly<Record<Need['side'], WeakMap<Need['routes'], readonly ResourceKey[]>>> = {
  BUY: new WeakMap(),
  SELL: new WeakMap(),
};

/** All resources that can limit `need`, each once. */
export function resourcesOf({ side, routes }: Pick<Need, 'side' | 'routes'>): readonly ResourceKey[] {
  const known = cached[side].get(routes);
  if (known !== undefined) return known;
  const venues = new Set(routes.map((route) => route.venue));
  const resources = [
    ...[...venues].flatMap((venue) => [collateralOn(venue), positionOn(venue)]),
    ...(side === 'SELL' ? routes.map(tokensOn) : []),
    EXPOSURE,
  ];
  cached[side].set(routes, resources);
  return resources;
}

/** A control character separates the parts, so that no two keys are equal. */
export function resourceName(key: ResourceKey): string {
  return `${key.venue}\u0000${key.resource}\u0000${key.asset}`;
}

export function accountResourceName(account: string, key: ResourceKey): string {
  return `${account}\u0000${resourceName(key)}`;
}

export function accountKey(account: string, { venue, resource, asset }: ResourceKey): AccountKey {
  const key = { venue, resource, asset };
  return { ...key, account, name: accountResourceName(account, key) };
}

export function isSameResource(one: ResourceKey, other: ResourceKey): boolean {
  return one.resource === other.resource && one.venue === other.venue && one.asset === other.asset;
}

/** The one order in which all shards lock rows. */
export function byName(one: AccountKey, other: AccountKey): number {
  return one.name < other.name ? -1 : 1;
}
