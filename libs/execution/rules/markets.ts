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
  /** One step for all prices, or bands of prices with a step each; neither where the venue publishes no grid. */
  readonly tick_size?: Micros;
  readonly bands?: readonly PriceBand[];
  readonly min_size: Micros;
  readonly shard?: number;
  readonly closes_at: string;
  readonly contract_id?: string;
}

type Priced = Pick<VenueMarket, 'tick_size' | 'bands'>;

/** The grid as bands; undefined where it is not known. */
function bandsOf({ tick_size: step, bands }: Priced): readonly PriceBand[] | undefined {
  return bands ?? (step === undefined ? undefined : [{ start: 0n, end: ONE, step }]);
}

/** A price on a border belongs to the band that begins there. */
function bandAt(bands: readonly PriceBand[], price: Micros): PriceBand | undefined {
  return bands.findLast(({ start }) => start <= price);
}

/** Undefined where the grid is not known: the venue itself must say then. A dollar is a valid price on every grid. */
export function isPriceOnGrid(market: Priced, price: Micros): boolean | undefined {
  const bands = bandsOf(market);
  if (bands === undefined) return undefined;
  if (price === ONE) return true;
  const band = bandAt(bands, price);
  return band !== undefined && (price - band.start) % band.step === 0n;
}

/** The step of the grid at a price; undefined where the grid is not known. */
export function tickAt(market: Priced, price: Micros): Micros | undefined {
  const bands = bandsOf(market);
  return bands === undefined ? undefined : bandAt(bands, price)?.step;
}

/** The price of the grid next to this one, on the wanted side; the price itself where the grid is not known. */
export function priceOnGrid(market: Priced, price: Micros, towards: Towards): Micros {
  const bands = bandsOf(market);
  const band = bands === undefined ? undefined : bandAt(bands, price);
  if (band === undefined) return price;
  const cut = band.start + onStep(price - band.start, band.step, towards);
  return cut > band.end ? band.end : cut;
}
