import type { Clock } from '#libs/platform/time/clock.js';

const NANOS_PER_MICRO = 1_000n;

/** Microseconds since 1970 UTC. */
export function microsNow(clock: Pick<Clock, 'epochNanos'>): number {
  return Number(clock.epochNanos() / NANOS_PER_MICRO);
}
