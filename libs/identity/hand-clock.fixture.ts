import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';

interface Timer {
  readonly due: bigint;
  readonly action: () => void;
}

/** A clock that moves only when the test moves it. Timers that are then due run in order. */
export class HandClock implements Clock {
  private wall: bigint;
  private monotonic = 0n;
  private readonly timers = new Set<Timer>();

  constructor(startSeconds: number) {
    this.wall = BigInt(startSeconds) * 1_000n * NANOS_PER_MILLI;
  }

  epochNanos(): bigint {
    return this.wall;
  }

  monotonicNanos(): bigint {
    return this.monotonic;
  }

  after(millis: number, action: () => void): Cancel {
    const timer = { due: this.monotonic + BigInt(millis) * NANOS_PER_MILLI, action };
    this.timers.add(timer);
    return () => {
      this.timers.delete(timer);
    };
  }

  pass(millis: number): void {
    this.passUnnoticed(millis);
    const due = [...this.timers].filter((timer) => timer.due <= this.monotonic);
    due.sort((a, b) => (a.due < b.due ? -1 : 1));
    for (const timer of due) {
      this.timers.delete(timer);
      timer.action();
    }
  }

  /** Moves the time without running timers, as in a suspended process. */
  passUnnoticed(millis: number): void {
    this.wall += BigInt(millis) * NANOS_PER_MILLI;
    this.monotonic += BigInt(millis) * NANOS_PER_MILLI;
  }

  /** Sets the wall clock, as an administrator of the machine might. */
  setWall(seconds: number): void {
    this.wall = BigInt(seconds) * 1_000n * NANOS_PER_MILLI;
  }
}
