import { describe, expect, it } from '@jest/globals';
import { PriceWatch, type SeenPrice } from './price-watch.js';

function prices(count: number, extreme: number, value: 0 | 1_000_000 = 0): SeenPrice[] {
  return Array.from({ length: count }, (_, index) => ({
    of: `m${String(index)}`,
    price: index < extreme ? value : 400_000 + index,
  }));
}

describe('prices that move to 0 or 1 at once', () => {
  it.each([
    [10, 2, true],
    [10, 3, false],
    [9, 9, true],
    [20, 4, true],
    [20, 5, false],
  ])('of %d prices, %d: accepted is %p', (count, extreme, isBelieved) => {
    for (const value of [0, 1_000_000] as const) {
      const watch = new PriceWatch();
      expect(watch.isBelievable(prices(count, 0), 'moved')).toBe(true);
      expect(watch.isBelievable(prices(count, extreme, value), 'moved')).toBe(isBelieved);
    }
  });

  it('prices that were already 0 or 1 do not count as moving', () => {
    const watch = new PriceWatch();
    for (const extreme of [2, 4, 6]) expect(watch.isBelievable(prices(10, extreme), 'moved')).toBe(true);
  });

  it('without an earlier price, trades count as moving and markets do not', () => {
    expect(new PriceWatch().isBelievable(prices(10, 10), 'moved')).toBe(false);
    expect(new PriceWatch().isBelievable(prices(10, 10), 'still')).toBe(true);
  });

  it('rejected prices are not remembered', () => {
    const watch = new PriceWatch();
    watch.isBelievable(prices(10, 0), 'moved');
    for (const all of [10, 11, 12]) expect(watch.isBelievable(prices(all, all), 'moved')).toBe(false);
  });
});
