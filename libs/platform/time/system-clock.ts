import type { Cancel, Clock } from './clock.js';

const NANOS_PER_MILLI = 1_000_000n;
/** Past this the anchor is taken anew, so that a clock set by an operator or NTP is followed. */
const MAX_DRIFT_NANOS = 1_000_000n;
const MAX_TIMER_MILLIS = 2_147_483_647;

/**
 * Wall time with nanosecond steps: the millisecond clock says where we are, the monotonic clock fills in the digits
 * below it and keeps successive readings apart.
 */
export class SystemClock implements Clock {
  private anchorEpoch = BigInt(Date.now()) * NANOS_PER_MILLI;
  private anchorMonotonic = process.hrtime.bigint();

  epochNanos(): bigint {
    const monotonic = process.hrtime.bigint();
    const reading = this.anchorEpoch + (monotonic - this.anchorMonotonic);
    const wall = BigInt(Date.now()) * NANOS_PER_MILLI;
    const drift = reading > wall ? reading - wall : wall - reading;
    if (drift <= MAX_DRIFT_NANOS + NANOS_PER_MILLI) return reading;
    this.anchorEpoch = wall;
    this.anchorMonotonic = monotonic;
    return wall;
  }

  monotonicNanos(): bigint {
    return process.hrtime.bigint();
  }

  after(millis: number, action: () => void): Cancel {
    const timer = setTimeout(action, Math.min(Math.max(0, millis), MAX_TIMER_MILLIS));
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  }
}
