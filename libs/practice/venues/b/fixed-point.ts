import { parseDecimal, printDecimal } from '#libs/base/decimals.js';
import type { Cash } from '../../matching/accounts.js';

const PLACES = 6;
const CASH_PLACES = 12;
const MOST = 1_000_000_000_000_000n;

/** A decimal string of the protocol, in millionths. Undefined if it is invalid or has too many decimals. */
export function micros(text: string, places: number): number | undefined {
  const units = parseDecimal(text, places)?.units;
  if (units === undefined || units < 0n) return undefined;
  const value = units * 10n ** BigInt(PLACES - places);
  return value > MOST ? undefined : Number(value);
}

/** Dollars with at least four decimals. */
export function dollars(value: number): string {
  return printDecimal({ units: BigInt(value), scale: PLACES }, 4);
}

/** Shares with two decimals. */
export function count(value: number): string {
  return printDecimal({ units: BigInt(value), scale: PLACES }, 2);
}

export function cashDollars(value: Cash): string {
  return printDecimal({ units: value, scale: CASH_PLACES }, 4);
}

const CASH_OF_A_CENT = 10_000_000_000n;

/** Whole cents, rounded down. */
export function cents(value: Cash): number {
  const whole = value / CASH_OF_A_CENT;
  return Number(value < 0n && whole * CASH_OF_A_CENT !== value ? whole - 1n : whole);
}
