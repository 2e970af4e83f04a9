import { repeat, type Clock } from '#libs/platform/clock.js';
import type { Environment } from '#libs/platform/config.js';

/** npm passes on the Ctrl-C that the terminal has already sent to everybody: that is not a second one. */
const SAME_PRESS_NANOS = 700_000_000n;

const NPM_LOOK_MS = 1_000;

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

  /** npm that is killed outright passes nothing on, but leaves us with another parent. */
  heedNpm(env: Environment): void {
    if (env.npm_lifecycle_event !== 'start') return;
    const npm = process.ppid;
    repeat(this.clock, NPM_LOOK_MS, () => {
      if (process.ppid !== npm && this.lastNanos === 0n) this.take();
      return Promise.resolve();
    });
  }

  private take(): void {
    const now = this.clock.monotonicNanos();
    if (this.lastNanos !== 0n && now - this.lastNanos < SAME_PRESS_NANOS) return;
    this.lastNanos = now;
    this.waiting.shift()?.(undefined);
  }
}
