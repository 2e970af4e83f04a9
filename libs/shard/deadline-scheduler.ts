import { millisBetween, type Instant } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { TimerHeap } from './timer-heap.js';

export interface DeadlineSchedulerPorts<Key> {
  readonly clock: Clock;
  readonly now: () => Instant;
  /** While the clock cannot be trusted, nothing is due. */
  readonly clockIsSound: () => boolean;
  readonly onDue: (key: Key) => void;
}

const RETRY_MILLIS = 100;
const MAX_AT_ONCE = 512;
/** After a clock was set forward, or a machine has slept, deadlines pass long before a timer for them would fire. */
const LOOK_EVERY_MILLIS = 1_000;

/** Calls `onDue` for each deadline that has passed, with one timer for the earliest of them. */
export class DeadlineScheduler<Key> {
  private readonly timers = new TimerHeap<Key>();
  private timer: { readonly at: Instant; readonly cancel: Cancel } | undefined;
  private stopped = false;

  constructor(private readonly ports: DeadlineSchedulerPorts<Key>) {}

  schedule(at: Instant, key: Key): void {
    this.timers.add({ at, key });
    this.arm();
  }

  /** Schedules again the work that could not be done at its deadline. */
  retry(action: () => void): void {
    if (!this.stopped) this.ports.clock.after(RETRY_MILLIS, action);
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private arm(atLeastMillis = 0): void {
    const next = this.timers.next();
    if (next === undefined || this.stopped) return;
    if (this.timer !== undefined && this.timer.at <= next && atLeastMillis === 0) return;
    this.timer?.cancel();
    // Rounded up, so that the timer does not fire a fraction of a millisecond before the deadline.
    const due = Math.min(millisBetween(this.ports.now(), next) + 1, LOOK_EVERY_MILLIS);
    const wait = Math.max(atLeastMillis, due);
    const cancel = this.ports.clock.after(wait, () => {
      this.timer = undefined;
      this.fire();
    });
    this.timer = { at: next, cancel };
  }

  private fire(): void {
    if (!this.ports.clockIsSound()) {
      this.arm(RETRY_MILLIS);
      return;
    }
    for (const { key } of this.timers.takeDue(this.ports.now(), MAX_AT_ONCE)) this.ports.onDue(key);
    this.arm();
  }
}
