/** Money, prices and shares as exact millionths. */
export type Micros = bigint;

export const ONE: Micros = 1_000_000n;
const PLACES = 6;

/** A decimal with `minPlaces` to six places. No exponent, and no trailing zeros beyond `minPlaces`. */
export function printMicros(value: Micros, minPlaces = 0): string {
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0');
  const whole = digits.slice(0, -PLACES);
  const fraction = digits.slice(-PLACES).replace(/0+$/, '').padEnd(minPlaces, '0');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The direction of rounding. Amounts are rounded against the user. Only for values that are not negative. */
export type Towards = 'down' | 'up';

export function timesMicros(left: Micros, right: Micros, towards: Towards): Micros {
  return dividedBy(left * right, ONE, towards);
}

export function dividedBy(numerator: bigint, denominator: bigint, towards: Towards): bigint {
  const cut = numerator / denominator;
  return towards === 'up' && cut * denominator !== numerator ? cut + 1n : cut;
}

/** The value rounded to a multiple of the step. */
export function onStep(value: Micros, step: Micros, towards: Towards): Micros {
  return dividedBy(value, step, towards) * step;
}

export function leastOf(first: Micros, ...others: readonly Micros[]): Micros {
  return others.reduce((least, other) => (other < least ? other : least), first);
}

export function mostOf(first: Micros, ...others: readonly Micros[]): Micros {
  return others.reduce((most, other) => (other > most ? other : most), first);
}
