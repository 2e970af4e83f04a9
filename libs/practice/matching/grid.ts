import { ONE_DOLLAR, type PriceMicros, type SizeMicros } from './order-book.js';

/** A range of prices with its own step. A price on a border belongs to the band that starts there. */
export interface Band {
  readonly start: PriceMicros;
  readonly end: PriceMicros;
  readonly step: PriceMicros;
}

export interface PriceGrid {
  readonly bands: readonly Band[];
  readonly min_size: SizeMicros;
  readonly size_step: SizeMicros;
}

/** One step for all prices. */
export function evenGrid(step: PriceMicros, sizes: Omit<PriceGrid, 'bands'>): PriceGrid {
  return { ...sizes, bands: [{ start: 0, end: ONE_DOLLAR, step }] };
}

export function isOnGrid({ bands }: PriceGrid, price: PriceMicros): boolean {
  if (price <= 0 || price >= ONE_DOLLAR) return false;
  const band = bands.findLast(({ start }) => start <= price);
  return band !== undefined && (price - band.start) % band.step === 0;
}

export function isSizeAllowed({ min_size: min, size_step: step }: PriceGrid, size: SizeMicros): boolean {
  return size >= min && size % step === 0;
}
