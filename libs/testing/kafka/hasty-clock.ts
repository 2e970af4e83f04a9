import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Cancel, Clock } from '../../platform/time/clock.js';

interface Timer {
  readonly due: bigint;
  readonly action: () => void;
}

/** Time passes as soon as nothing else happens, so every wait is as short as the work of the others allows. */
export class HastyClock implements Clock {
  private now = 1n;
  private timers: Timer[] = [];
  private isRunning = false;

  epochNanos(): bigint {
    return this.now;
  }

  monotonicNanos(): bigint {
    return this.now;
  }

  after(millis: number, action: () => void): Cancel {
    const timer = { due: this.now + BigInt(Math.ceil(millis)) * NANOS_PER_MILLI, action };
    this.timers.push(timer);
    this.run();
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  private run(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    setImmediate(() => {
      this.isRunning = false;
      const [first, ...others] = this.timers.toSorted((a, b) => Number(a.due - b.due));
      if (first === undefined) return;
      this.timers = others;
      if (first.due > this.now) this.now = first.due;
      first.action();
      if (this.timers.length > 0) this.run();
    });
  }
}
