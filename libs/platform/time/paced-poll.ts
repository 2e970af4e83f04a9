import { untilNext, type Cancel, type Clock } from './clock.js';

export interface PollPace {
  /** Between two polls while a caller relies on the result. */
  readonly busyMillis: number;
  /** Between two polls while no caller does. */
  readonly idleMillis: number;
}

/** Polls in a row that no caller asked for, before the pace becomes idle. */
const LINGER = 10;

/**
 * Polls often while a caller relies on the result, and seldom while none does. The first call after an idle time polls at once; the
 * caller checks the age of the result. The poll handles its own failures.
 */
export class PacedPoll {
  private cancel: Cancel = () => undefined;
  private unwanted = 0;
  private isIdle = false;
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly pace: PollPace,
    private readonly poll: () => Promise<void>,
  ) {}

  /** The caller has made the first poll itself. */
  start(): void {
    this.schedule();
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  wanted(): void {
    this.unwanted = 0;
    if (!this.isIdle || this.stopped) return;
    this.cancel();
    void this.pollNow();
  }

  private schedule(): void {
    if (this.stopped) return;
    this.isIdle = this.unwanted >= LINGER;
    this.unwanted += 1;
    const { busyMillis, idleMillis } = this.pace;
    const millis = untilNext(this.clock, this.isIdle ? idleMillis : busyMillis);
    this.cancel = this.clock.after(millis, () => void this.pollNow());
  }

  private async pollNow(): Promise<void> {
    this.isIdle = false;
    await this.poll();
    this.schedule();
  }
}
