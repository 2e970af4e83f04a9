import type { Clock } from '#libs/platform/time/clock.js';

/** No two looks are further apart than this while the process runs. */
const LONGEST_GAP_NANOS = 500_000_000n;
const NANOS_PER_MILLI = 1_000_000n;

/**
 * Milliseconds in which this process was running. Of a time in which it stood still it counts only so much: what a frozen
 * owner has not heard was said all the same, and lies in its buffers until it goes on.
 */
export class WakingTime {
  private awake = 0n;
  private seenAt: bigint;

  constructor(private readonly clock: Clock) {
    this.seenAt = clock.monotonicNanos();
  }

  now(): number {
    const seen = this.clock.monotonicNanos();
    const gap = seen - this.seenAt;
    this.awake += gap < LONGEST_GAP_NANOS ? gap : LONGEST_GAP_NANOS;
    this.seenAt = seen;
    return Number(this.awake / NANOS_PER_MILLI);
  }
}
