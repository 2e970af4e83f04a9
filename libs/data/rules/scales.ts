import { printDecimal, quotient } from '#libs/base/decimals.js';

/** One dollar or one contract, in the units of prices, cash and sizes. */
export const MILLION = 1_000_000n;
/** The price of a certain payout of one dollar. */
export const FULL_PRICE = 1_000_000;

const PLACES = 6;
const MICROS_PER_CENT = 10_000;

/** 0 to 100. A single division gives the nearest number, whose shortest form has no more decimals than the price. */
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

/** A JSON number with at most six decimals and no exponent. Made from text, because a number may not hold the bigint exactly. */
function inMillions(micros: bigint): number {
  return Number(decimalText(micros));
}

/** Without exponent, trailing zeros or `-0`. */
export function decimalText(micros: bigint): string {
  return printDecimal({ units: micros, scale: PLACES });
}

/** Decimals in requests and recorded lines: a sign, digits without leading zeros, at most six decimals. */
const PLAIN_DECIMAL = /^-?(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/;

export function microsOfDecimal(text: string): bigint | undefined {
  if (!PLAIN_DECIMAL.test(text)) return undefined;
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
}

/** Rounded half up to the micro-dollar. */
export function cashOf(price: number, size: bigint): bigint {
  return halfUp(BigInt(price) * size, MILLION);
}

/** The quotient of two numbers that are not negative, rounded half up. */
export function halfUp(over: bigint, under: bigint): bigint {
  return (2n * over + under) / (2n * under);
}

/** Rounded half away from zero to six decimals. */
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

/** `$950`, `$12.3K`, `$4.5M`, `$1.2B`. The unrounded value selects the unit, so `$1000.0K` is possible. */
export function displayed(cash: bigint): string {
  const [from, letter] = UNITS.find(([least]) => cash >= least * MILLION) ?? [];
  if (from === undefined || letter === undefined) return `$${String(halfUp(cash, MILLION))}`;
  const tenths = String(halfUp(10n * cash, from * MILLION));
  return `$${tenths.slice(0, -1)}.${tenths.slice(-1)}${letter}`;
}
