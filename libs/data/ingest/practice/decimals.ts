import { z } from 'zod';
import { FULL_PRICE, microsOfDecimal } from '../../rules/scales.js';
import { microsOfTime } from '../../rules/times.js';

/** A decimal string, in millionths. */
const millionths = z.string().transform((text, context) => {
  const micros = microsOfDecimal(text);
  if (micros !== undefined) return micros;
  context.addIssue({ code: 'custom', message: 'it is not a decimal with at most six places' });
  return z.NEVER;
});

/** A price in dollars of one contract, in micro-dollars. */
export const priceText = millionths
  .refine((price) => price >= 0n && price <= BigInt(FULL_PRICE), 'it is not a price from 0 to 1')
  .transform(Number);

export const sizeText = millionths.refine((size) => size >= 0n, 'it is negative');

/** A change of a size, which may be negative. */
export const deltaText = millionths;

/** ISO 8601 with a zone, in microseconds. */
export const timeText = z.string().transform((text, context) => {
  const micros = microsOfTime(text, 'required');
  if (micros !== undefined) return micros;
  context.addIssue({ code: 'custom', message: 'it is not a time' });
  return z.NEVER;
});

const MICROS_PER_MILLI = 1_000;

/** Milliseconds since 1970, in microseconds. */
export const millisTime = z
  .int()
  .min(0)
  .max(8_000_000_000_000)
  .transform((millis) => millis * MICROS_PER_MILLI);
