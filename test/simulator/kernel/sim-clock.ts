import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { Host } from './host.js';
import type { Scheduler } from './scheduler.js';

/** The time at which the simulated world begins. */
export const BEGINNING = 1_790_000_000_000_000_000n;
export const NANOS_PER_MILLI = 1_000_000;
const MILLION = 1_000_000;

/** The clock of a process. It may drift, and it may be set while it runs. */
export class SimClock implements Clock {
  private wallShift = 0n;
  private readings = 0;
  private readonly rate: number;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly host: Host | undefined,
    driftPartsPerMillion = 0,
  ) {
    this.rate = 1 + driftPartsPerMillion / MILLION;
  }

  /** Two readings always differ, as on a real machine. */
  monotonicNanos(): bigint {
    this.readings += 1;
    return BigInt(Math.round(this.scheduler.now * this.rate)) + BigInt(this.readings);
  }

  epochNanos(): bigint {
    return BEGINNING + this.monotonicNanos() + this.wallShift;
  }

  after(millis: number, action: () => void): Cancel {
    return this.scheduler.after((Math.max(0, millis) * NANOS_PER_MILLI) / this.rate, this.host, action);
  }

  /** An operator sets the wall clock; no time passes. */
  setWall(millisFromTruth: number): void {
    this.wallShift = BigInt(Math.round(millisFromTruth * NANOS_PER_MILLI));
  }
}
