import type { VenueId } from './venues.js';
import { onStep, ONE, type Micros, type Towards } from './micros.js';

export type MarketState = 'open' | 'halted' | 'closed' | 'resolved';

export interface PriceBand {
  readonly start: Micros;
  readonly end: Micros;
  readonly step: Micros;
}

export interface MarketOutcome {
  readonly index: number;
  readonly outcome: string;
  readonly token_id?: string;
}

export interface VenueMarket {
  readonly exchange_id: VenueId;
  readonly market_id: string;
  readonly title: string;
  readonly status: MarketState;
  readonly condition_id?: string;
  readonly neg_risk: boolean;
  readonly outcomes: readonly MarketOutcome[];
  /** Either one step for all prices, or bands of prices with a step each. Neither if the venue publishes no grid. */
  readonly tick_size?: Micros;
  readonly bands?: readonly PriceBand[];
  readonly min_size: Micros;
  readonly shard?: number;
  readonly closes_at: string;
  readonly contract_id?: string;
}

type Priced = Pick<VenueMarket, 'tick_size' | 'bands'>;

/** The grid as bands. Undefined if it is unknown. */
function bandsOf({ tick_size: step, bands }: Priced): readonly PriceBand[] | undefined {
  return bands ?? (step === undefined ? undefined : [{ start: 0n, end: ONE, step }]);
}

/** A price on a border belongs to the band that begins there. */
function bandAt(bands: readonly PriceBand[], price: Micros): PriceBand | undefined {
  return bands.findLast(({ start }) => start <= price);
}

/** Undefined if the grid is unknown; then the venue must decide. One dollar is a valid price on every grid. */
export function isPriceOnGrid(market: Priced, price: Micros): boolean | undefined {
  const bands = bandsOf(market);
  if (bands === undefined) return undefined;
  if (price === ONE) return true;
  const band = bandAt(bands, price);
  return band !== undefined && (price - band.start) % band.step === 0n;
}

/** The step of the grid at a price. Undefined if the grid is unknown. */
export function tickAt(market: Priced, price: Micros): Micros | undefined {
  const bands = bandsOf(market);
  return bands === undefined ? undefined : bandAt(bands, price)?.step;
}

/** The price rounded to the grid in the given direction. The price itself if the grid is unknown. */
export function priceOnGrid(market: Priced, price: Micros, towards: Towards): Micros {
  const bands = bandsOf(market);
  const band = bands === undefined ? undefined : bandAt(bands, price);
  if (band === undefined) return price;
  const cut = band.start + onStep(price - band.start, band.step, towards);
  return cut > band.end ? band.end : cut;
}
