import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  cashOf,
  cents,
  contracts,
  decimalText,
  displayed,
  dollars,
  microsOfDecimal,
  percent,
  ratio,
  unit,
} from './scales.js';

const anyPrice = fc.integer({ min: 0, max: 1_000_000 });
/** Larger than any market gets. */
const anyMicros = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });
const anySize = fc.bigInt({ min: 0n, max: 10n ** 18n });

/** The reference moves the point in the text of a number. */
function pointBefore(value: bigint, places: number): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
  return value < 0n ? `-${text}` : text;
}

/** The nearest whole number, by trying both neighbours. Half goes away from zero. */
function nearest(over: bigint, under: bigint): bigint {
  const [top, bottom] = [over < 0n ? -over : over, under < 0n ? -under : under];
  let low = top / bottom;
  if (2n * (top - low * bottom) >= bottom) low += 1n;
  return over < 0n === under < 0n ? low : -low;
}

describe('numbers of JSON', () => {
  it('of prices are the price with its point moved by four or six places', () => {
    fc.assert(
      fc.property(anyPrice, (price) => {
        expect(JSON.stringify(cents(price))).toBe(pointBefore(BigInt(price), 4));
        expect(JSON.stringify(unit(price))).toBe(pointBefore(BigInt(price), 6));
      }),
    );
    expect([cents(1_000_000), cents(0), unit(1), unit(1_000_000)]).toEqual([100, 0, 0.000001, 1]);
  });

  it('of money and sizes have at most six decimals and no exponent, and are the nearest', () => {
    fc.assert(
      fc.property(anyMicros, (micros) => {
        for (const number of [dollars(micros), contracts(micros)]) {
          const text = JSON.stringify(number);
          expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d{1,6})?$/);
          expect(number).toBe(Number(pointBefore(micros, 6)));
          if (micros < 10n ** 15n && micros > -(10n ** 15n)) expect(text).toBe(pointBefore(micros, 6));
        }
      }),
    );
    expect(Object.is(dollars(0n), 0)).toBe(true);
  });
});

describe('decimal strings', () => {
  it('have no exponent, no trailing zeros and no minus before zero', () => {
    fc.assert(fc.property(anyMicros, (micros) => expect(decimalText(micros)).toBe(pointBefore(micros, 6))));
    expect([decimalText(0n), decimalText(-1_500_000n), decimalText(1n)]).toEqual(['0', '-1.5', '0.000001']);
  });

  it('are read back exactly with at most twelve digits before the point', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 18n) + 1n, max: 10n ** 18n - 1n }),
        fc.nat(3),
        (micros, zeros) => {
          expect(microsOfDecimal(decimalText(micros))).toBe(micros);
          const [whole = '', fraction = ''] = decimalText(micros).split('.');
          const padded = `${whole}.${fraction.padEnd(Math.min(6, fraction.length + zeros + 1), '0')}`;
          expect(microsOfDecimal(padded)).toBe(micros);
        },
      ),
    );
  });

  it.each([
    '',
    '.5',
    '1.',
    '+1',
    '01',
    '1e3',
    '0.1234567',
    '1234567890123',
    ' 1',
    '1 ',
    'NaN',
    '0x1',
    '1_0',
    '--1',
  ])('written %j are refused', (text) => expect(microsOfDecimal(text)).toBeUndefined());
});

describe('rounding', () => {
  it('of cash is half up to the micro-dollar', () => {
    fc.assert(
      fc.property(anyPrice, anySize, (price, size) => {
        expect(cashOf(price, size)).toBe(nearest(BigInt(price) * size, 1_000_000n));
      }),
    );
    expect([cashOf(500_000, 1n), cashOf(499_999, 1n), cashOf(1, 1_500_000n)]).toEqual([1n, 0n, 2n]);
  });

  it('of quotients is half away from zero at six decimals', () => {
    fc.assert(
      fc.property(anyMicros, anyMicros, (over, under) => {
        fc.pre(under !== 0n);
        expect(ratio(over, under)).toBe(Number(pointBefore(nearest(over * 1_000_000n, under), 6)));
        expect(percent(over, under)).toBe(ratio(over * 100n, under));
      }),
    );
    expect([ratio(1n, 2_000_000n), ratio(-1n, 2_000_000n), ratio(1n, 3n)]).toEqual([
      0.000001, -0.000001, 0.333333,
    ]);
    expect(percent(1n, 8n)).toBe(12.5);
  });
});

describe('displayed volume', () => {
  it.each([
    ['0', '$0'],
    ['0.499999', '$0'],
    ['0.5', '$1'],
    ['950', '$950'],
    ['999.499999', '$999'],
    ['999.5', '$1000'],
    ['1000', '$1.0K'],
    ['12345.678', '$12.3K'],
    ['12350', '$12.4K'],
    ['12349.999999', '$12.3K'],
    ['999949.999999', '$999.9K'],
    ['999999.999999', '$1000.0K'],
    ['1000000', '$1.0M'],
    ['4500000', '$4.5M'],
    ['999999999.999999', '$1000.0M'],
    ['1000000000', '$1.0B'],
    ['1234000000000', '$1234.0B'],
  ])('of %s is %s', (value, text) => {
    const [whole = '', fraction = ''] = value.split('.');
    expect(displayed(BigInt(whole + fraction.padEnd(6, '0')))).toBe(text);
  });

  it('is within half of its last digit, and the unrounded value selects the unit', () => {
    fc.assert(
      fc.property(fc.nat(24), fc.bigInt({ min: 0n, max: 999n }), (digits, more) => {
        const cash = 10n ** BigInt(digits) + more;
        const [, number = '', letter = ''] = /^\$([\d.]+)([KMB]?)$/.exec(displayed(cash)) ?? [];
        const exponent = { '': 0, K: 3, M: 6, B: 9 }[letter] ?? 0;
        const inUnits = cash >= 10n ** 15n ? 'B' : cash >= 10n ** 12n ? 'M' : cash >= 10n ** 9n ? 'K' : '';
        expect(letter).toBe(inUnits);
        const [whole = '', tenth] = number.split('.');
        expect(tenth === undefined).toBe(letter === '');
        const shown = BigInt(whole + (tenth ?? '0')) * 10n ** BigInt(exponent + 5);
        const step = 10n ** BigInt(exponent + (letter === '' ? 6 : 5));
        const error = 2n * (shown - cash);
        expect(error > -step && error <= step).toBe(true);
      }),
    );
  });
});
