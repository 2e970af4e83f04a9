import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { affordable, averagePrice, issueCost, owed } from './money.js';

const price = fc.integer({ min: 1, max: 999_999 });
const quantity = fc.nat({ max: Number.MAX_SAFE_INTEGER });

describe('the amount owed', () => {
  it('is rounded up for every size', () => {
    expect(owed(500_000, 1)).toBe(1);
    expect(owed(500_000, 2)).toBe(1);
    expect(owed(999_999, Number.MAX_SAFE_INTEGER)).toBe(9_007_190_247_541_737);
    expect(owed(1, 0)).toBe(0);
    expect(issueCost(999_999, 1_000_000)).toBe(1);
  });

  it('covers the exact cost and exceeds it by less than one atom', () => {
    fc.assert(
      fc.property(price, quantity, (unit, size) => {
        const excess = BigInt(owed(unit, size)) * 1_000_000n - BigInt(unit) * BigInt(size);
        expect(excess >= 0n && excess < 1_000_000n).toBe(true);
      }),
    );
  });

  it('of buyer and seller together is at least the payout', () => {
    fc.assert(
      fc.property(price, quantity, (unit, size) => {
        expect(owed(unit, size) + issueCost(unit, size)).toBeGreaterThanOrEqual(size);
      }),
    );
  });
});

describe('the affordable quantity', () => {
  it('is the largest that the funds pay for', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 50 }), price, (funds, unit) => {
        const size = affordable(funds, unit);
        expect(owed(unit, size)).toBeLessThanOrEqual(funds);
        if (size < Number.MAX_SAFE_INTEGER) expect(owed(unit, size + 1)).toBeGreaterThan(funds);
      }),
    );
    expect([affordable(-1, 1), affordable(0, 1)]).toEqual([0, 0]);
    expect(affordable(Number.MAX_SAFE_INTEGER, 1)).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('the average price', () => {
  it.each([
    [
      [
        [500_000, 1],
        [500_001, 1],
      ],
      500_001,
    ],
    [
      [
        [500_000, 3],
        [500_001, 1],
      ],
      500_000,
    ],
    [
      [
        [1, 2 ** 52],
        [999_999, 2 ** 52],
      ],
      500_000,
    ],
  ])('of %j is %d: by quantity, half up', (fills, average) => {
    expect(averagePrice(fills.map(([unit, size]) => ({ price: unit!, quantity: size! })))).toBe(average);
  });
});
