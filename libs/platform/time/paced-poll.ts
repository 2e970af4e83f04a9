import { untilNext, type Cancel, type Clock } from './clock.js';

export interface PollPace {
  /** The time between two polls while callers use the result. */
  readonly busyMillis: number;
  /** The time between two polls while no caller does. */
  readonly idleMillis: number;
}

/** After this many polls without a caller the pace becomes idle. */
const POLLS_BEFORE_IDLE = 10;

/**
 * Polls often while callers use the result, and rarely while none does. The first call of `wanted` after an idle time polls at
 * once. Callers must check the age of the result. The poll must not reject.
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

  /** Starts to poll. The caller has made the first poll itself. */
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
    this.isIdle = this.unwanted >= POLLS_BEFORE_IDLE;
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
