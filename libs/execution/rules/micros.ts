/** Money, prices and shares: millionths, exactly. */
export type Micros = bigint;

export const ONE: Micros = 1_000_000n;
const PLACES = 6;

/** A decimal of at most six places without exponent or trailing zeros; with at least `minPlaces`. */
export function printMicros(value: Micros, minPlaces = 0): string {
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0');
  const whole = digits.slice(0, -PLACES);
  const fraction = digits.slice(-PLACES).replace(/0+$/, '').padEnd(minPlaces, '0');
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Rounding goes against whoever pays: say which. For values that are not negative. */
export type Towards = 'down' | 'up';

export function timesMicros(left: Micros, right: Micros, towards: Towards): Micros {
  return dividedBy(left * right, ONE, towards);
}

export function dividedBy(numerator: bigint, denominator: bigint, towards: Towards): bigint {
  const cut = numerator / denominator;
  return towards === 'up' && cut * denominator !== numerator ? cut + 1n : cut;
}

/** The multiple of a step that lies next to a value. */
export function onStep(value: Micros, step: Micros, towards: Towards): Micros {
  return dividedBy(value, step, towards) * step;
}

export function leastOf(first: Micros, ...others: readonly Micros[]): Micros {
  return others.reduce((least, other) => (other < least ? other : least), first);
}

export function mostOf(first: Micros, ...others: readonly Micros[]): Micros {
  return others.reduce((most, other) => (other > most ? other : most), first);
}
