import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';

/** The time that is left of a time limit. */
export class Countdown {
  private readonly end: bigint;

  constructor(
    private readonly clock: Clock,
    /** The limit itself, in milliseconds. */
    readonly all: number,
  ) {
    this.end = clock.monotonicNanos() + BigInt(all) * NANOS_PER_MILLI;
  }

  /** At least one, so that a last attempt is possible. */
  get millis(): number {
    return Math.max(1, Number((this.end - this.clock.monotonicNanos()) / NANOS_PER_MILLI));
  }

  get isOver(): boolean {
    return this.clock.monotonicNanos() >= this.end;
  }
}
