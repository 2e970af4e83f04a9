import { untilNext, type Cancel, type Clock } from './clock.js';

export interface Pace {
  /** Between two looks while somebody relies on what was seen. */
  readonly busyMillis: number;
  /** Between two looks while nobody does. */
  readonly idleMillis: number;
}

/** Looks in a row for which nobody asked, before it counts as idle. */
const LINGER = 10;

/**
 * Looks again and again: often while somebody relies on what was seen, seldom while nobody does. Whoever comes after an idle while
 * has it look at once, and finds out from the age of what was seen whether that still counts. A look handles its own failures.
 */
export class PacedLook {
  private cancel: Cancel = () => undefined;
  private unwanted = 0;
  private isIdle = false;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly pace: Pace,
    private readonly look: () => Promise<void>,
  ) {}

  /** The first look is the caller's. */
  start(): void {
    this.next();
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  wanted(): void {
    this.unwanted = 0;
    if (!this.isIdle || this.stopped) return;
    this.cancel();
    void this.goOn();
  }

  private next(): void {
    if (this.stopped) return;
    this.isIdle = this.unwanted >= LINGER;
    this.unwanted += 1;
    const { busyMillis, idleMillis } = this.pace;
    const millis = untilNext(this.clock, this.isIdle ? idleMillis : busyMillis);
    this.cancel = this.clock.after(millis, () => void this.goOn());
  }

  private async goOn(): Promise<void> {
    this.isIdle = false;
    await this.look();
    this.next();
  }
}
