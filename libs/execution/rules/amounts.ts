import { isPriceOnGrid, priceOnGrid, tickAt, type VenueMarket } from './markets.js';
import { leastOf, mostOf, onStep, ONE, timesMicros, type Micros } from './micros.js';
import { CAPABILITIES, type VenueId } from './venues.js';

export type OrderSide = 'buy' | 'sell';
export type OrderKind = 'market' | 'limit';

const HUNDREDTH = 10_000n;
const DEFAULT_SLIPPAGE = 50_000n;

/** By how much a market order's price may move against the caller. */
export interface Slippage {
  readonly max_slippage_cents?: number;
  /** A part of the price; deprecated. */
  readonly max_slippage?: Micros;
}

/** The step of sizes: on a and b sales in hundredths, on e whole shares either way. */
function sizeStep(venue: VenueId, side: OrderSide): Micros {
  if (venue === 'venue_e') return ONE;
  return side === 'sell' && CAPABILITIES[venue].sell_quantity_decimals === 2 ? HUNDREDTH : 1n;
}

/** The size as the venue takes it, never more than was asked for; nothing where too little is left. */
export function floorSize(venue: VenueId, side: OrderSide, quantity: Micros): Micros {
  return onStep(quantity, sizeStep(venue, side), 'down');
}

/** Undefined where the venue's grid is not known. */
export function isLimitAllowed(market: VenueMarket, price: Micros): boolean | undefined {
  return isPriceOnGrid(market, price);
}

/**
 * The worst price that a market order may trade at: its price moved against the caller by the slippage, at least by one tick, at most
 * to the venue's maximum. Then cut to the grid on the caller's own side, so that it is never worse than was asked for.
 */
export function marketBound(
  market: VenueMarket,
  {
    side,
    price,
    max_slippage_cents: cents,
    max_slippage: part,
  }: Slippage & { readonly side: OrderSide; readonly price: Micros },
): Micros {
  const asked =
    cents !== undefined
      ? BigInt(cents) * HUNDREDTH
      : part !== undefined
        ? timesMicros(price, part, 'down')
        : DEFAULT_SLIPPAGE;
  const slippage = mostOf(asked, tickAt(market, price) ?? 0n);
  if (side === 'buy') return priceOnGrid(market, leastOf(price + slippage, ONE), 'down');
  const tick = tickAt(market, 0n) ?? 1n;
  return mostOf(priceOnGrid(market, mostOf(price - slippage, 0n), 'up'), tick);
}
