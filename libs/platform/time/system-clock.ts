import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { createHistogram } from 'node:perf_hooks';
import type { Cancel, Clock } from './clock.js';

/** At a larger drift the anchor is renewed, to follow a clock that an operator or NTP has set. */
const MAX_DRIFT_NANOS = 1_000_000n;
const MAX_TIMER_MILLIS = 2_147_483_647;
/** Work with a longer period is aligned to this one, so that it runs together with other work. */
const BEAT_MILLIS = 1_000;

/** The delay of this process's timers in nanoseconds. Recorded here, because a separate monitor would wake an idle process. */
export const timerDelay = createHistogram();

/**
 * Wall time with nanosecond digits: the millisecond clock sets the anchor, and the monotonic clock adds the digits below it, so
 * that successive readings differ.
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

  /** Waits until the multiple of the period since the start of the process that is nearest to `millis` from now. */
  untilNext(millis: number): number {
    const now = performance.now();
    const period = Math.min(millis, BEAT_MILLIS);
    return Math.round((now + millis) / period) * period - now;
  }

  after(millis: number, action: () => void): Cancel {
    const wait = Math.min(Math.max(0, millis), MAX_TIMER_MILLIS);
    // For a timer that was overdue when it was set, that time does not count as delay.
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
