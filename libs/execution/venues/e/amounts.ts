import { z } from 'zod';
import { instantFromNanos, NANOS_PER_MILLI, nanosFromInstant, type Instant } from '#libs/base/instant.js';
import { ONE, type Micros } from '../../rules/micros.js';

const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,6})\d*)?$/;
const PLACES = 6;
const FIRST_ASSET = 100_000_000;
const SIDES = 10;

/** A decimal of the venue. Digits below a millionth are cut off. */
export const decimal = z.string().transform((text, context): Micros => {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) {
    context.addIssue({ code: 'custom', message: 'not a decimal' });
    return z.NEVER;
  }
  const value = BigInt(whole) * ONE + BigInt(fraction.padEnd(PLACES, '0'));
  return sign === '-' ? -value : value;
});

/** One of the two sides of a market. The venue numbers sides as `10 * market + side`. */
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

/** How books and orders name a side. It is also our token id. */
export function tokenIdOf(side: MarketSide): string {
  return `#${encodingOf(side)}`;
}

/** Parses `#51`, or `+51` as balances write it. Undefined if the text is not a side of a market. */
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
