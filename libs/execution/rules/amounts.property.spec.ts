import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { floorSize, isLimitAllowed, marketBound, type OrderSide } from './amounts.js';
import { feeOf } from './fees.js';
import { isPriceOnGrid, priceOnGrid, type PriceBand, type VenueMarket } from './markets.js';
import { ONE, printMicros, type Micros } from './micros.js';
import { VENUE_IDS } from './venues.js';

const MARKET: VenueMarket = {
  ...{ exchange_id: 'venue_b', market_id: 'RAIN', title: 'Rain', status: 'open', neg_risk: false },
  ...{ outcomes: [], min_size: 1n, closes_at: '2027-01-01T00:00:00.000Z' },
};

/** Steps that venues use. Some are not powers of ten. */
const anyStep = fc.constantFrom(100n, 1_000n, 2_500n, 10_000n, 50_000n);
const anyPrice = fc.bigInt({ min: 1n, max: ONE });
const anySide = fc.constantFrom<OrderSide>('buy', 'sell');
const anyBands: fc.Arbitrary<PriceBand[]> = fc
  .tuple(anyStep, anyStep, anyStep, fc.constantFrom(100_000n, 200_000n), fc.constantFrom(800_000n, 900_000n))
  .map(([low, middle, high, first, second]) => [
    { start: 0n, end: first, step: low },
    { start: first, end: second, step: middle },
    { start: second, end: ONE, step: high },
  ]);
const anyMarket: fc.Arbitrary<VenueMarket> = fc.oneof(
  anyStep.map((tick_size) => ({ ...MARKET, tick_size })),
  anyBands.map((bands) => ({ ...MARKET, bands })),
  fc.constant(MARKET),
);

/** Lists all prices of a grid. Slow, but simple. */
function pricesOf(market: VenueMarket): Set<Micros> {
  const bands = market.bands ?? [{ start: 0n, end: ONE, step: market.tick_size ?? 1n }];
  const prices = new Set<Micros>([ONE]);
  for (const { start, end, step } of bands)
    for (let price = start; price < end; price += step) prices.add(price);
  return prices;
}

describe('prices', () => {
  it('are on the grid exactly if the list of all grid prices has them', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyStep.map((tick_size) => ({ ...MARKET, tick_size })),
          anyBands.map((bands) => ({ ...MARKET, bands })),
        ),
        anyPrice,
        (market, price) => {
          expect(isPriceOnGrid(market, price)).toBe(pricesOf(market).has(price));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('are rounded to the nearest grid price in the given direction', () => {
    fc.assert(
      fc.property(anyBands, anyPrice, (bands, price) => {
        const market = { ...MARKET, bands };
        const grid = [...pricesOf(market)];
        const below = grid.filter((one) => one <= price).reduce((best, one) => (one > best ? one : best), 0n);
        expect(priceOnGrid(market, price, 'down')).toBe(below);
        expect(isPriceOnGrid(market, priceOnGrid(market, price, 'up'))).toBe(true);
        expect(priceOnGrid(market, price, 'up')).toBeGreaterThanOrEqual(price);
      }),
      { numRuns: 100 },
    );
  });

  it('are not judged if the grid is unknown', () => {
    expect(isLimitAllowed(MARKET, 123_456n)).toBeUndefined();
  });
});

describe('sizes', () => {
  it('are rounded down by less than one step', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...VENUE_IDS),
        anySide,
        fc.bigInt({ min: 1n, max: ONE * ONE }),
        (venue, side, quantity) => {
          const size = floorSize(venue, side, quantity);
          expect(size).toBeLessThanOrEqual(quantity);
          expect(quantity - size).toBeLessThan(ONE);
          expect(floorSize(venue, side, size)).toBe(size);
        },
      ),
    );
  });

  it.each([
    ['venue_a', 'sell', '1.239', '1.23'],
    ['venue_a', 'buy', '1.239', '1.239'],
    ['venue_b', 'sell', '0.009', '0'],
    ['venue_c', 'sell', '1.239999', '1.239999'],
    ['venue_e', 'buy', '2.9', '2'],
    ['venue_e', 'sell', '0.9', '0'],
  ] as const)('at %s, a %s of %s gets the size %s', (venue, side, requested, size) => {
    expect(printMicros(floorSize(venue, side, BigInt(Math.round(Number(requested) * 1e6))))).toBe(size);
  });
});

describe('the bound of a market order', () => {
  it('is on the grid, and at most the slippage or one tick worse than the price', () => {
    fc.assert(
      fc.property(
        anyMarket,
        anySide,
        anyPrice,
        fc.integer({ min: 1, max: 99 }),
        (market, side, price, cents) => {
          const bound = marketBound(market, { side, price, max_slippage_cents: cents });
          expect(bound).toBeGreaterThan(0n);
          expect(bound).toBeLessThanOrEqual(ONE);
          const step =
            market.bands?.reduce<Micros>((most, band) => (band.step > most ? band.step : most), 0n) ??
            market.tick_size ??
            1n;
          const allowed = BigInt(cents) * 10_000n > step ? BigInt(cents) * 10_000n : step;
          if (side === 'buy') expect(bound).toBeLessThanOrEqual(price + allowed);
          else expect(bound).toBeGreaterThanOrEqual(price - allowed);
          expect(isPriceOnGrid(market, bound)).not.toBe(false);
        },
      ),
    );
  });

  it.each([
    [{ side: 'buy', price: 400_000n }, '0.45'],
    [{ side: 'sell', price: 400_000n }, '0.35'],
    [{ side: 'buy', price: 980_000n }, '1'],
    [{ side: 'sell', price: 20_000n }, '0.01'],
    [{ side: 'buy', price: 400_000n, max_slippage_cents: 1 }, '0.41'],
    [{ side: 'buy', price: 400_000n, max_slippage: 100_000n }, '0.44'],
    [{ side: 'buy', price: 400_000n, max_slippage: 0n }, '0.41'],
  ] as const)('for %j is %s', (order, bound) => {
    expect(printMicros(marketBound({ ...MARKET, tick_size: 10_000n }, order))).toBe(bound);
  });
});

describe('fees', () => {
  it.each([
    ['venue_b', 'taker', 500_000n, 10_000_000n, '0.18'],
    ['venue_b', 'maker', 500_000n, 10_000_000n, '0.05'],
    ['venue_b', 'taker', 10_000n, 1_000_000n, '0.01'],
    ['venue_a', 'taker', 500_000n, 10_000_000n, '0.05'],
    ['venue_a', 'maker', 500_000n, 10_000_000n, '0'],
    ['venue_e', 'taker', 500_000n, 10_000_000n, '0'],
  ] as const)('at %s as %s, price %d and quantity %d, are %s', (venue, liquidity, price, quantity, fee) => {
    expect(printMicros(feeOf(venue, { price, quantity, liquidity }))).toBe(fee);
  });
});
