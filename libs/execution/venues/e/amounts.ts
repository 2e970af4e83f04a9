import { z } from 'zod';
import { instantFromNanos, NANOS_PER_MILLI, nanosFromInstant, type Instant } from '#libs/base/instant.js';
import { ONE, type Micros } from '../../rules/micros.js';

const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,6})\d*)?$/;
const PLACES = 6;
const FIRST_ASSET = 100_000_000;
const SIDES = 10;

/** A decimal of the venue. Parts below a millionth are cut off. */
export const decimal = z.string().transform((text, context): Micros => {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) {
    context.addIssue({ code: 'custom', message: 'not a decimal' });
    return z.NEVER;
  }
  const value = BigInt(whole) * ONE + BigInt(fraction.padEnd(PLACES, '0'));
  return sign === '-' ? -value : value;
});

/** One of the two sides of a market: the venue counts `10 * market + side`. */
export interface MarketSide {
  readonly market_id: string;
  readonly outcome_index: number;
}

export function encodingOf({ market_id, outcome_index }: MarketSide): number {
  return Number(market_id) * SIDES + outcome_index;
}

export function assetOf(side: MarketSide): number {
  return FIRST_ASSET + encodingOf(side);
}

/** As books and orders name a side, and as our token id. */
export function tokenIdOf(side: MarketSide): string {
  return `#${encodingOf(side)}`;
}

/** Of `#51`, and of `+51` as balances have it; undefined for whatever is no side of a market. */
export function sideOf(coin: string): MarketSide | undefined {
  const [, digits] = /^[#+](\d{1,15})$/.exec(coin) ?? [];
  if (digits === undefined) return undefined;
  const outcome_index = Number(digits) % SIDES;
  if (outcome_index > 1) return undefined;
  return { market_id: String((Number(digits) - outcome_index) / SIDES), outcome_index };
}

export function instantOf(millis: number): Instant {
  return instantFromNanos(BigInt(millis) * NANOS_PER_MILLI);
}

export function millisOf(instant: Instant): number {
  return Number(nanosFromInstant(instant) / NANOS_PER_MILLI);
}
