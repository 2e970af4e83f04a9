import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { createHistogram } from 'node:perf_hooks';
import type { Cancel, Clock } from './clock.js';

/** Past this the anchor is taken anew, so that a clock set by an operator or NTP is followed. */
const MAX_DRIFT_NANOS = 1_000_000n;
const MAX_TIMER_MILLIS = 2_147_483_647;
/** What is done less often than this keeps to it all the same, so that it comes together with the rest. */
const BEAT_MILLIS = 1_000;

/** By how many nanoseconds timers of this process came late. A monitor with a timer of its own would wake up a process that rests. */
export const timerDelay = createHistogram();

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

  /** The multiple of the period since this process began that is nearest to `millis` from now. */
  untilNext(millis: number): number {
    const now = performance.now();
    const period = Math.min(millis, BEAT_MILLIS);
    return Math.round((now + millis) / period) * period - now;
  }

  after(millis: number, action: () => void): Cancel {
    const wait = Math.min(Math.max(0, millis), MAX_TIMER_MILLIS);
    // What was overdue when it was asked for is not late by that.
    const due = performance.now() + wait;
    const timer = setTimeout(() => {
      timerDelay.record(Math.max(1, Math.round((performance.now() - due) * Number(NANOS_PER_MILLI))));
      action();
    }, wait);
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  }
}
