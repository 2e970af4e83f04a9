import type { Cancel } from '#libs/platform/time/clock.js';
import { EventQueue, type Timed } from './event-queue.js';

/** Where code runs: a simulated process. */
export interface ProcessContext {
  readonly isAlive: boolean;
  /** Runs the action now, later or never. */
  run(action: () => void): void;
  /** Runs the action at the end of this turn of the event loop. */
  soon(action: () => void, afterNanos: number): void;
}

interface SimEvent extends Timed {
  readonly host: ProcessContext | undefined;
  readonly action: () => void;
  isCancelled: boolean;
}

/**
 * Runs all events of a simulation in order, on one simulated time line in nanoseconds. Between two steps every
 * promise that can continue has continued. So a crash falls only where a process waits for something outside.
 */
export class Scheduler {
  now = 0;
  steps = 0;
  private readonly queue = new EventQueue<SimEvent>();
  private entered = 0;
  private current: ProcessContext | undefined;

  /** The process that owns the running code. */
  get running(): ProcessContext | undefined {
    return this.current;
  }

  after(nanos: number, host: ProcessContext | undefined, action: () => void): Cancel {
    const event = {
      at: this.now + Math.max(0, Math.round(nanos)),
      order: this.entered,
      host,
      action,
      isCancelled: false,
    };
    this.entered += 1;
    this.queue.add(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Runs the next event that is due before `until`. False if there is none. */
  step(until: number): boolean {
    for (;;) {
      const next = this.queue.first();
      if (next === undefined || next.at > until) return false;
      this.queue.take();
      if (next.isCancelled || next.host?.isAlive === false) continue;
      this.now = Math.max(this.now, next.at);
      this.steps += 1;
      if (next.host === undefined) this.enter(undefined, next.action);
      else next.host.run(next.action);
      return true;
    }
  }

  /** Until the next step, all code belongs to this process. */
  enter(host: ProcessContext | undefined, action: () => void): void {
    this.current = host;
    action();
  }
}
