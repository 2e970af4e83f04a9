import { FULL_PRICE } from '../../rules/scales.js';

export interface SeenPrice {
  /** Of what it is the price. */
  readonly of: string;
  /** Micro-dollars. */
  readonly price: number;
}

const LEAST_PRICES = 10;
const PART = 5;

/** What a venue's prices were, so that a body in which too many of them are suddenly 0 or 1 is not believed. */
export class PriceWatch {
  private readonly last = new Map<string, number>();

  /** Whether more than a fifth of at least ten prices moves to 0 or 1. Only what is believed is remembered. */
  isBelievable(prices: readonly SeenPrice[], ofUnknown: 'moved' | 'still'): boolean {
    const moved = prices.filter(({ of, price }) => {
      const before = this.last.get(of);
      return isExtreme(price) && (before === undefined ? ofUnknown === 'moved' : before !== price);
    });
    if (movesTooMany(moved.length, prices.length)) return false;
    for (const { of, price } of prices) this.last.set(of, price);
    return true;
  }
}

export function movesTooMany(moved: number, all: number): boolean {
  return all >= LEAST_PRICES && moved * PART > all;
}

export function isExtreme(price: number): boolean {
  return price === 0 || price === FULL_PRICE;
}
