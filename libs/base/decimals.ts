/** The exact decimal number `units / 10^scale`. Services that accept decimals keep money and sizes in it, never in floats. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Toward zero, away from zero, to the lower or higher neighbour, or to the nearest, where a half goes away from zero. */
export type Rounding = 'down' | 'up' | 'floor' | 'ceiling' | 'half-up';

/** The grammar of JSON numbers: no plus sign, no leading zeros, no bare point. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Most digits of a number that is written out. It bounds the work that a short token like `1e999999` can cause. */
const MOST_DIGITS = 60;

/**
 * Reads the token of a JSON number, or a string of the same grammar, exactly. The value counts, not the spelling: `1e1`, `10.0`
 * and `10` are equal. Undefined for any other text, and for a value with more than `places` decimals.
 */
export function parseDecimal(token: string, places: number): Decimal | undefined {
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = NUMBER.exec(token) ?? [];
  if (whole === '') return undefined;
  const digits = trimmed(whole + fraction);
  if (digits.text === '') return { units: 0n, scale: places };
  const exponent = Number(exponentText) - fraction.length + digits.dropped;
  if (-exponent > places || digits.text.length + Math.abs(exponent) > MOST_DIGITS) return undefined;
  const units = BigInt(digits.text) * 10n ** BigInt(places + exponent);
  return { units: sign === '-' ? -units : units, scale: places };
}

/** The digits without zeros at either end. `dropped` counts those at the end. */
function trimmed(digits: string): { readonly text: string; readonly dropped: number } {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  let start = 0;
  while (start < end && digits[start] === '0') start += 1;
  return { text: digits.slice(start, end), dropped: digits.length - end };
}

/** Has no exponent, no `-0`, and no trailing zeros beyond `minPlaces` decimals. */
export function printDecimal({ units, scale }: Decimal, minPlaces = 0): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  let fraction = scale === 0 ? '' : digits.slice(-scale);
  while (fraction.length > minPlaces && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  fraction = fraction.padEnd(minPlaces, '0');
  const sign = units < 0n ? '-' : '';
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

export function rescaled(value: Decimal, scale: number, rounding: Rounding): Decimal {
  if (scale >= value.scale) return { units: value.units * 10n ** BigInt(scale - value.scale), scale };
  return { units: divided(value.units, 10n ** BigInt(value.scale - scale), rounding), scale };
}

export function plus(left: Decimal, right: Decimal): Decimal {
  const scale = Math.max(left.scale, right.scale);
  return { units: rescaled(left, scale, 'down').units + rescaled(right, scale, 'down').units, scale };
}

export function minus(left: Decimal, right: Decimal): Decimal {
  return plus(left, { units: -right.units, scale: right.scale });
}

export function times(left: Decimal, right: Decimal): Decimal {
  return { units: left.units * right.units, scale: left.scale + right.scale };
}

/** Throws a RangeError for a division by zero. */
export function quotient(left: Decimal, right: Decimal, scale: number, rounding: Rounding): Decimal {
  const numerator = left.units * 10n ** BigInt(scale + right.scale);
  return { units: divided(numerator, right.units * 10n ** BigInt(left.scale), rounding), scale };
}

/** Negative, zero or positive, as `sort` expects. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  const { units } = minus(left, right);
  return units < 0n ? -1 : Number(units > 0n);
}

/** Division of bigints truncates toward zero, and the remainder has the sign of the numerator. */
function divided(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  const truncated = numerator / denominator;
  const remainder = numerator % denominator;
  if (remainder === 0n) return truncated;
  const away = numerator < 0n === denominator < 0n ? 1n : -1n;
  return isRoundedAway(rounding, away, remainder, denominator) ? truncated + away : truncated;
}

function isRoundedAway(rounding: Rounding, away: bigint, remainder: bigint, denominator: bigint): boolean {
  switch (rounding) {
    case 'down':
      return false;
    case 'up':
      return true;
    case 'floor':
      return away < 0n;
    case 'ceiling':
      return away > 0n;
    case 'half-up': {
      const twice = 2n * remainder;
      return (twice < 0n ? -twice : twice) >= (denominator < 0n ? -denominator : denominator);
    }
  }
}
