import { FULL_PRICE } from '../../rules/scales.js';

export interface SeenPrice {
  /** What the price belongs to, such as an outcome. */
  readonly of: string;
  /** Micro-dollars. */
  readonly price: number;
}

const LEAST_PRICES = 10;
const PART = 5;

/** Remembers a venue's prices, to reject a body in which too many of them suddenly become 0 or 1. */
export class PriceWatch {
  private readonly last = new Map<string, number>();

  /** False if at least ten prices are given and more than a fifth of them move to 0 or 1. Only accepted prices are remembered. */
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
