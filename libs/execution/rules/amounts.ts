import { isPriceOnGrid, priceOnGrid, tickAt, type VenueMarket } from './markets.js';
import { leastOf, mostOf, onStep, ONE, timesMicros, type Micros } from './micros.js';
import { CAPABILITIES, type VenueId } from './venues.js';

export type OrderSide = 'buy' | 'sell';
export type OrderKind = 'market' | 'limit';

const HUNDREDTH = 10_000n;
const DEFAULT_SLIPPAGE = 50_000n;

/** How far the price of a market order may move against the caller. */
export interface Slippage {
  readonly max_slippage_cents?: number;
  /** A fraction of the price. Deprecated. */
  readonly max_slippage?: Micros;
}

/** The smallest step of a size: hundredths for sells at venues a and b, whole shares at venue e. */
function sizeStep(venue: VenueId, side: OrderSide): Micros {
  if (venue === 'venue_e') return ONE;
  return side === 'sell' && CAPABILITIES[venue].sell_quantity_decimals === 2 ? HUNDREDTH : 1n;
}

/** The size, rounded down to the venue's step. Zero if it is smaller than one step. */
export function floorSize(venue: VenueId, side: OrderSide, quantity: Micros): Micros {
  return onStep(quantity, sizeStep(venue, side), 'down');
}

/** Undefined if the venue's price grid is unknown. */
export function isLimitAllowed(market: VenueMarket, price: Micros): boolean | undefined {
  return isPriceOnGrid(market, price);
}

/**
 * The worst price at which a market order may trade. The slippage is at least one tick, and the price at most one dollar.
 * It is rounded to the grid in the caller's favour, so it is never worse than the caller asked for.
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
  const requested =
    cents !== undefined
      ? BigInt(cents) * HUNDREDTH
      : part !== undefined
        ? timesMicros(price, part, 'down')
        : DEFAULT_SLIPPAGE;
  const slippage = mostOf(requested, tickAt(market, price) ?? 0n);
  if (side === 'buy') return priceOnGrid(market, leastOf(price + slippage, ONE), 'down');
  const tick = tickAt(market, 0n) ?? 1n;
  return mostOf(priceOnGrid(market, mostOf(price - slippage, 0n), 'up'), tick);
}
