import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';

const MAX_WAIT_MILLIS = 60_000;

interface Timer {
  readonly due: bigint;
  readonly action: () => void;
}

/**
 * Real time, for code that waits for a real database, until the test moves it. The test can leap forward (which runs the timers
 * on the way), stop the clock, or shift only the wall clock, as an operator might.
 */
export class MovableClock implements Clock {
  private readonly timers = new Set<Timer>();
  private leaps = 0n;
  private wallShift = 0n;
  private stoppedAt: bigint | undefined;
  private wake: NodeJS.Timeout | undefined;
  private areTimersHeld = false;
  private readonly wallAtZero = BigInt(Date.now()) * NANOS_PER_MILLI - process.hrtime.bigint();

  monotonicNanos(): bigint {
    return (this.stoppedAt ?? process.hrtime.bigint()) + this.leaps;
  }

  /** Timers continue while the readable clock stands still. */
  private timerNanos(): bigint {
    return process.hrtime.bigint() + this.leaps;
  }

  epochNanos(): bigint {
    return this.trueEpochNanos() + this.wallShift;
  }

  /** The time of a wall clock that was not shifted. */
  trueEpochNanos(): bigint {
    return this.wallAtZero + this.monotonicNanos();
  }

  after(millis: number, action: () => void): Cancel {
    const timer = { due: this.timerNanos() + BigInt(Math.ceil(millis)) * NANOS_PER_MILLI, action };
    this.timers.add(timer);
    this.arm();
    return () => {
      this.timers.delete(timer);
    };
  }

  leap(millis: number): void {
    this.leapNanos(BigInt(millis) * NANOS_PER_MILLI);
  }

  leapNanos(nanos: bigint): void {
    this.leaps += nanos;
    this.runDue();
  }

  /** Leaps to this moment, which must be in the future, and stays there until `goOn`. */
  stopAtEpoch(nanos: bigint): void {
    this.stoppedAt = process.hrtime.bigint();
    this.leapNanos(nanos - this.epochNanos());
  }

  goOn(): void {
    if (this.stoppedAt === undefined) return;
    this.leaps -= process.hrtime.bigint() - this.stoppedAt;
    this.stoppedAt = undefined;
    this.runDue();
  }

  /** No timer runs until `letTimersRun`, as on a machine under heavy load. */
  holdTimers(): void {
    this.areTimersHeld = true;
  }

  letTimersRun(): void {
    this.areTimersHeld = false;
    this.runDue();
  }

  /** Shifts the wall clock against the true time. No time passes. */
  setWall(millisFromTruth: number): void {
    this.wallShift = BigInt(millisFromTruth) * NANOS_PER_MILLI;
  }

  /** Timers that are left must not keep a test alive or run into the next one. */
  forgetTimers(): void {
    this.timers.clear();
    clearTimeout(this.wake);
  }

  private runDue(): void {
    if (this.areTimersHeld) return;
    const now = this.timerNanos();
    const due = [...this.timers].filter((timer) => timer.due <= now).sort((a, b) => (a.due < b.due ? -1 : 1));
    for (const timer of due) {
      // Another due timer may have cancelled it.
      if (this.timers.delete(timer)) timer.action();
    }
    this.arm();
  }

  private arm(): void {
    clearTimeout(this.wake);
    if (this.areTimersHeld || this.timers.size === 0) return;
    let next: bigint | undefined;
    for (const { due } of this.timers) if (next === undefined || due < next) next = due;
    const wait = Math.ceil(Number((next ?? 0n) - this.timerNanos()) / Number(NANOS_PER_MILLI));
    this.wake = setTimeout(() => this.runDue(), Math.min(Math.max(0, wait), MAX_WAIT_MILLIS));
    this.wake.unref();
  }
}
