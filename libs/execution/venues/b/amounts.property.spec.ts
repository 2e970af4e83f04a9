import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ONE } from '../../rules/micros.js';
import { countText, dollarsText, fixedPoint, inBook, ownPrice, wholeCount } from './amounts.js';

const anyPrice = fc.bigInt({ min: 1n, max: ONE - 1n });
const anyCount = fc.bigInt({ min: 0n, max: ONE * ONE });
const anyOrder = fc.record({
  outcome_index: fc.constantFrom(0, 1),
  side: fc.constantFrom<'buy' | 'sell'>('buy', 'sell'),
  price: anyPrice,
});

it('amounts are written and parsed back without loss', () => {
  fc.assert(
    fc.property(anyCount, (value) => {
      expect(fixedPoint.parse(dollarsText(value))).toBe(value);
      expect(fixedPoint.parse(countText(wholeCount(value)))).toBe(wholeCount(value));
      expect(countText(wholeCount(value))).toMatch(/^\d+\.\d\d$/);
    }),
  );
});

it.each(['', '1.', '.5', '1e3', '0.1234567', ' 1', '1,0', '--1', '9'.repeat(16)])(
  '%j is refused as an amount',
  (text) => {
    expect(fixedPoint.safeParse(text).success).toBe(false);
  },
);

it('a count is rounded down to whole hundredths', () => {
  fc.assert(
    fc.property(anyCount, (quantity) => {
      expect(wholeCount(quantity)).toBeLessThanOrEqual(quantity);
      expect(quantity - wholeCount(quantity)).toBeLessThan(10_000n);
      expect(wholeCount(quantity) % 10_000n).toBe(0n);
    }),
  );
});

it('a price converted to the book and back is unchanged', () => {
  fc.assert(
    fc.property(anyOrder, (order) => {
      expect(ownPrice(order.outcome_index, inBook(order).price)).toBe(order.price);
    }),
  );
});

it('a higher payment ranks better in the book for either outcome', () => {
  fc.assert(
    fc.property(anyOrder, anyPrice, (order, other) => {
      const [one, two] = [inBook(order), inBook({ ...order, price: other })];
      expect(one.side).toBe(two.side);
      const paysMore = order.side === 'buy' ? order.price > other : order.price < other;
      const isBetter = one.side === 'bid' ? one.price > two.price : one.price < two.price;
      expect(isBetter).toBe(paysMore);
    }),
  );
});
