import { ATOMS_PER_CONTRACT, PAYOUT_ATOMS, issueCost, owed, type Atoms } from '#libs/base/money.js';
import type { Grid, Hold, Route, Side } from './terms.js';

type RouteKey = Pick<Route, 'venue' | 'contract_id' | 'outcome'>;

/**
 * What one trade needs from the party on `side`. Routes are alternatives, so each must be able to carry the whole
 * trade.
 */
export interface Need {
  readonly side: Side;
  readonly routes: readonly RouteKey[];
  readonly price_atoms: Atoms;
  readonly quantity_atoms: Atoms;
  /** The most fills that the trade may be split into. Each fill rounds up separately. */
  readonly parts: number;
}

export function assetOf(route: RouteKey): string {
  return `${route.contract_id}/${route.outcome}`;
}

/** The most that one contract can cost the party: the price for a buyer, the payout less the price for a seller. */
export function riskPrice(side: Side, price: Atoms): Atoms {
  return side === 'BUY' ? price : PAYOUT_ATOMS - price;
}

/** Where tick times step is a whole number of atoms, no fill is ever rounded, however it is split. */
export function fillParts(grid: Grid, maxWinners: number): number {
  return (grid.price_tick_atoms * grid.quantity_step_atoms) % ATOMS_PER_CONTRACT === 0 ? 1 : maxWinners;
}

/**
 * What must be set aside for `need`. A sale uses outcome tokens first, then collateral, from which missing tokens
 * can be issued. Routes of one venue share its collateral, because each atom is traded on one route only.
 */
export function holdFor(need: Need, tokensOn: (route: RouteKey) => Atoms): Hold[] {
  const tokens = new Map<string, Hold>();
  const collateral = new Map<string, Atoms>();
  for (const route of need.routes) {
    const held = need.side === 'SELL' ? Math.min(tokensOn(route), need.quantity_atoms) : 0;
    if (held > 0) {
      const asset = assetOf(route);
      tokens.set(`${route.venue}/${asset}`, {
        venue: route.venue,
        resource: 'OUTCOME_TOKEN',
        asset,
        amount: held,
      });
    }
    const cost = collateralFor(need, need.quantity_atoms - held);
    collateral.set(route.venue, Math.max(collateral.get(route.venue) ?? 0, cost));
  }
  return [
    ...tokens.values(),
    ...[...collateral].flatMap(([venue, cost]) => venueHolds(need, venue, cost)),
    exposure(need),
  ];
}

function collateralFor(need: Need, quantity: Atoms): Atoms {
  if (quantity === 0) return 0;
  const cost = need.side === 'BUY' ? owed(need.price_atoms, quantity) : issueCost(need.price_atoms, quantity);
  return cost + need.parts - 1;
}

function venueHolds(need: Need, venue: string, cost: Atoms): Hold[] {
  const position: Hold = { venue, resource: 'VENUE_POSITION_LIMIT', asset: '', amount: need.quantity_atoms };
  return cost === 0 ? [position] : [{ venue, resource: 'COLLATERAL', asset: '', amount: cost }, position];
}

/** Exposure is counted over the whole service, so it names no venue. */
function exposure(need: Need): Hold {
  const amount = owed(riskPrice(need.side, need.price_atoms), need.quantity_atoms) + need.parts - 1;
  return { venue: '', resource: 'SERVICE_EXPOSURE_LIMIT', asset: '', amount };
}
