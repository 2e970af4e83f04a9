import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  compareDecimals,
  minus,
  parseDecimal,
  plus,
  printDecimal,
  quotient,
  rescaled,
  times,
  type Decimal,
  type Rounding,
} from './decimals.js';

const units = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
const scales = fc.integer({ min: 0, max: 8 });
const decimals: fc.Arbitrary<Decimal> = fc.record({ units, scale: scales });
const nonZero = decimals.filter((value) => value.units !== 0n);

/** The oracle calculates with fractions, which are never rounded. */
interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}
const fraction = ({ units: numerator, scale }: Decimal): Fraction => ({
  numerator,
  denominator: 10n ** BigInt(scale),
});
const difference = (left: Fraction, right: Fraction): bigint =>
  left.numerator * right.denominator - right.numerator * left.denominator;

/** A random spelling of a value: trailing zeros, a point after any digit, and an exponent that corrects for both. */
function spelled({ units: all, scale }: Decimal, pointAt: number, zeros: number): string {
  const digits = `${String(all < 0n ? -all : all)}${'0'.repeat(zeros)}`;
  const at = all === 0n ? 1 : 1 + (pointAt % digits.length);
  const [whole, fraction] = [digits.slice(0, at), digits.slice(at)];
  const exponent = fraction.length - zeros - scale;
  return `${all < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}e${String(exponent)}`;
}

describe('reading and writing', () => {
  it('reads back the value that was printed', () => {
    fc.assert(
      fc.property(decimals, (value) => {
        const read = parseDecimal(printDecimal(value), 8);
        expect(read && difference(fraction(read), fraction(value))).toBe(0n);
      }),
    );
  });

  it('reads the same value from every spelling', () => {
    fc.assert(
      fc.property(decimals, fc.nat(40), fc.nat(5), (value, pointAt, zeros) => {
        const read = parseDecimal(spelled(value, pointAt, zeros), 8);
        expect(read?.scale).toBe(8);
        expect(read && difference(fraction(read), fraction(value))).toBe(0n);
      }),
    );
  });

  it('refuses exactly the values that need more decimal places', () => {
    fc.assert(
      fc.property(decimals, scales, fc.nat(40), (value, places, pointAt) => {
        const { numerator, denominator } = fraction(value);
        const fits = (numerator * 10n ** BigInt(places)) % denominator === 0n;
        expect(parseDecimal(spelled(value, pointAt, 2), places) !== undefined).toBe(fits);
      }),
    );
  });

  it('writes no exponent, no trailing zero and no negative zero', () => {
    fc.assert(
      fc.property(decimals, (value) => {
        expect(printDecimal(value)).toMatch(/^(?!-0$)-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });

  it.each([
    ['10', 6, '10'],
    ['1e1', 6, '10'],
    ['0.4000000', 6, '0.4'],
    ['-0', 6, '0'],
    ['0e999999999', 6, '0'],
    ['1.5E-1', 2, '0.15'],
  ])('reads %s with %d places as %s', (token, places, printed) => {
    const value = parseDecimal(token, places);
    expect(value && printDecimal(value)).toBe(printed);
  });

  it.each([
    '',
    '+1',
    '01',
    '1.',
    '.5',
    '0x1',
    'NaN',
    '1e',
    ' 1',
    '1 ',
    '1_0',
    '1e400',
    `1e${'9'.repeat(400)}`,
    '1'.repeat(61),
    '0.1234567',
    '1e-7',
  ])('refuses %j', (token) => {
    expect(parseDecimal(token, 6)).toBeUndefined();
  });

  it('writes at least as many decimals as asked', () => {
    expect(printDecimal({ units: 0n, scale: 0 }, 2)).toBe('0.00');
    expect(printDecimal({ units: 1_500_000n, scale: 6 }, 2)).toBe('1.50');
    expect(printDecimal({ units: -1_234_567n, scale: 6 }, 2)).toBe('-1.234567');
  });
});

describe('arithmetic', () => {
  it('adds, subtracts and multiplies exactly', () => {
    fc.assert(
      fc.property(decimals, decimals, (left, right) => {
        const [a, b] = [fraction(left), fraction(right)];
        const sum = {
          numerator: a.numerator * b.denominator + b.numerator * a.denominator,
          denominator: a.denominator * b.denominator,
        };
        const product = { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
        expect(difference(fraction(plus(left, right)), sum)).toBe(0n);
        expect(compareDecimals(minus(plus(left, right), right), left)).toBe(0);
        expect(difference(fraction(times(left, right)), product)).toBe(0n);
      }),
    );
  });

  it.each<[Rounding, (error: bigint, away: boolean, half: bigint, unit: bigint) => boolean]>([
    ['floor', (error, _away, _half, unit) => error <= 0n && error > -unit],
    ['ceiling', (error, _away, _half, unit) => error >= 0n && error < unit],
    [
      'half-up',
      (error, away, half) =>
        (error < 0n ? -error : error) < half || (away && (error < 0n ? -error : error) === half),
    ],
    ['down', (error, away, _half, unit) => (error < 0n ? -error : error) < unit && (error === 0n || !away)],
    ['up', (error, away, _half, unit) => (error < 0n ? -error : error) < unit && (error === 0n || away)],
  ])('divides and rounds %s, by less than a unit and in the right direction', (rounding, isRight) => {
    fc.assert(
      fc.property(decimals, nonZero, scales, (left, right, scale) => {
        const [a, b] = [fraction(left), fraction(right)];
        const sign = b.numerator < 0n ? -1n : 1n;
        const exact = {
          numerator: a.numerator * b.denominator * sign,
          denominator: a.denominator * b.numerator * sign,
        };
        const got = fraction(quotient(left, right, scale, rounding));
        // Both numerator one denominator, twice, so that half a unit is whole.
        const error = 2n * difference(got, exact);
        const unit = 2n * exact.denominator;
        const isAway = exact.numerator < 0n ? error < 0n : error > 0n;
        expect(isRight(error, isAway, unit / 2n, unit)).toBe(true);
      }),
    );
  });

  it('changes the scale exactly, or rounds as a division by one does', () => {
    fc.assert(
      fc.property(decimals, scales, (value, scale) => {
        const got = rescaled(value, scale, 'floor');
        expect(got).toEqual(quotient(value, { units: 1n, scale: 0 }, scale, 'floor'));
        if (scale >= value.scale) expect(difference(fraction(got), fraction(value))).toBe(0n);
      }),
    );
  });

  it('refuses to divide by zero', () => {
    expect(() => quotient({ units: 1n, scale: 0 }, { units: 0n, scale: 3 }, 2, 'up')).toThrow(RangeError);
  });

  it('compares by value', () => {
    fc.assert(
      fc.property(decimals, decimals, (left, right) => {
        const expected = difference(fraction(left), fraction(right));
        expect(Math.sign(compareDecimals(left, right))).toBe(expected < 0n ? -1 : Number(expected > 0n));
      }),
    );
  });
});
