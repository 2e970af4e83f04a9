import { printDecimal, quotient } from '#libs/base/decimals.js';

/** One dollar, or one contract, in what prices, cash and sizes are counted in. */
export const MILLION = 1_000_000n;
/** The price of what pays one dollar for certain. */
export const FULL_PRICE = 1_000_000;

const PLACES = 6;
const MICROS_PER_CENT = 10_000;

/** 0 to 100. Divided once, so that the nearest number is hit and its shortest form has no more decimals than the price. */
export function cents(price: number): number {
  return price / MICROS_PER_CENT;
}

/** 0 to 1. */
export function unit(price: number): number {
  return price / FULL_PRICE;
}

export function contracts(size: bigint): number {
  return inMillions(size);
}

export function dollars(cash: bigint): number {
  return inMillions(cash);
}

/** A number of JSON that has at most six decimals and no exponent. By its text, since a bigint may be no exact number. */
function inMillions(micros: bigint): number {
  return Number(decimalText(micros));
}

/** Without exponent, trailing zeros and `-0`. */
export function decimalText(micros: bigint): string {
  return printDecimal({ units: micros, scale: PLACES });
}

/** Decimals as requests and recorded lines have them: a sign, digits without leading zeros, at most six decimals. */
const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/;

export function microsOfDecimal(text: string): bigint | undefined {
  if (!PLAIN_DECIMAL.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
}

/** Of one leg, half up to the micro-dollar. */
export function cashOf(price: number, size: bigint): bigint {
  return halfUp(BigInt(price) * size, MILLION);
}

/** The nearest whole quotient of two that are not negative. */
export function halfUp(over: bigint, under: bigint): bigint {
  return (2n * over + under) / (2n * under);
}

/** Averages, rates: six decimals, half away from zero. */
export function ratio(over: bigint, under: bigint): number {
  const { units } = quotient({ units: over, scale: 0 }, { units: under, scale: 0 }, PLACES, 'half-up');
  return inMillions(units);
}

export function percent(part: bigint, whole: bigint): number {
  return ratio(100n * part, whole);
}

const UNITS: readonly (readonly [from: bigint, letter: string])[] = [
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'K'],
];

/** `$950`, `$12.3K`, `$4.5M`, `$1.2B`: the unrounded value says which unit, so `$1000.0K` is possible. */
export function displayed(cash: bigint): string {
  const [from, letter] = UNITS.find(([least]) => cash >= least * MILLION) ?? [];
  if (from === undefined || letter === undefined) return `$${String(halfUp(cash, MILLION))}`;
  const tenths = String(halfUp(10n * cash, from * MILLION));
  return `$${tenths.slice(0, -1)}.${tenths.slice(-1)}${letter}`;
}
