import { NANOS_PER_MILLI, NANOS_PER_SECOND } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';

export const MINUTE_S = 60;
export const HOUR_S = 3_600;
export const DAY_S = 86_400;

/** Whole seconds since 1970, as in tokens. */
export function epochSeconds(clock: Clock): number {
  return Number(clock.epochNanos() / NANOS_PER_SECOND);
}

export function epochMillis(clock: Clock): number {
  return Number(clock.epochNanos() / NANOS_PER_MILLI);
}

/** RFC 3339 UTC with exactly nine fraction digits, as everywhere on the wire. */
export function instantOfSeconds(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.000000000Z`;
}
