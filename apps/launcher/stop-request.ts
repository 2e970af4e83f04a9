import type { Clock } from '#libs/platform/time/clock.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { handleNpmEnd } from '#libs/platform/supervision/npm-parent.js';

/** npm passes on the Ctrl-C that the terminal has already sent to all processes: that is not a second one. */
const SAME_PRESS_NANOS = 700_000_000n;

/** The first signal asks to stop in order, the second one to be quick about it. */
export class StopRequest {
  readonly first: Promise<undefined>;
  readonly second: Promise<undefined>;
  private readonly waiting: ((value: undefined) => void)[] = [];
  private lastNanos = 0n;

  constructor(private readonly clock: Clock) {
    this.first = new Promise((resolve) => this.waiting.push(resolve));
    this.second = new Promise((resolve) => this.waiting.push(resolve));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.take());
  }

  /** The end of npm counts as the first signal if there was none. */
  handleNpmEnd(env: Environment): void {
    handleNpmEnd('start', env, this.clock, () => {
      if (this.lastNanos === 0n) this.take();
    });
  }

  private take(): void {
    const now = this.clock.monotonicNanos();
    if (this.lastNanos !== 0n && now - this.lastNanos < SAME_PRESS_NANOS) return;
    this.lastNanos = now;
    this.waiting.shift()?.(undefined);
  }
}
