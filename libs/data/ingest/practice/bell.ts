import type { Clock } from '#libs/platform/time/clock.js';

/** A wait that ends at a timeout, when rung, or when stopped. A ring before the wait is kept. */
export class Bell {
  private isRung = false;
  private wake: () => void = () => undefined;

  constructor(private readonly clock: Clock) {}

  ring(): void {
    this.isRung = true;
    this.wake();
  }

  /** Resolves with true if it was rung. */
  async wait(millis: number, stop: AbortSignal): Promise<boolean> {
    if (!this.isRung) await this.sleep(millis, stop);
    const wasRung = this.isRung;
    this.isRung = false;
    return wasRung;
  }

  private sleep(millis: number, stop: AbortSignal): Promise<void> {
    return sleep(this.clock, millis, stop, (wake) => {
      this.wake = wake;
    });
  }
}

/** Resolves after the time, when stopped, or when woken. */
export function sleep(
  clock: Clock,
  millis: number,
  stop: AbortSignal,
  onWake: (wake: () => void) => void = () => undefined,
): Promise<void> {
  if (stop.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      stop.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(millis, end);
    stop.addEventListener('abort', end);
    onWake(end);
  });
}
