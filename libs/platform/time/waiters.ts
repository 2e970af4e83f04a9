import type { Clock } from './clock.js';

interface Waiter {
  readonly isDone: () => boolean;
  readonly resolve: (done: boolean) => void;
}

/** Lets callers wait for conditions. `check` must be called whenever a condition may have changed. */
export class Waiters {
  private readonly waiting = new Set<Waiter>();

  constructor(private readonly clock: Clock) {}

  /** Resolves with true once `isDone` holds at a check, or with false after `millis`, if given. */
  wait(isDone: () => boolean, millis?: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        isDone,
        resolve: (done) => {
          this.waiting.delete(waiter);
          cancel?.();
          resolve(done);
        },
      };
      this.waiting.add(waiter);
      const cancel = millis === undefined ? undefined : this.clock.after(millis, () => waiter.resolve(false));
    });
  }

  check(): void {
    for (const waiter of [...this.waiting]) if (waiter.isDone()) waiter.resolve(true);
  }
}
