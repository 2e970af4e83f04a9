import type { Clock } from '#libs/platform/time/clock.js';
import type { Environment } from '#libs/platform/settings/config.js';
import { handleNpmEnd } from '#libs/platform/supervision/npm-parent.js';

/** npm passes on a Ctrl-C that the terminal already sent to all processes. That is not a second one. */
const SAME_PRESS_NANOS = 700_000_000n;

/** The first signal asks for an orderly stop, the second for a quick one. */
export class StopRequest {
  readonly first: Promise<undefined>;
  readonly second: Promise<undefined>;
  private readonly waiting: ((value: undefined) => void)[] = [];
  private lastNanos = 0n;

  constructor(private readonly clock: Clock) {
    this.first = new Promise((resolve) => this.waiting.push(resolve));
    this.second = new Promise((resolve) => this.waiting.push(resolve));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.onSignal());
  }

  /** The end of npm counts as the first signal, unless one came before. */
  handleNpmEnd(env: Environment): void {
    handleNpmEnd('start', env, this.clock, () => {
      if (this.lastNanos === 0n) this.onSignal();
    });
  }

  private onSignal(): void {
    const now = this.clock.monotonicNanos();
    if (this.lastNanos !== 0n && now - this.lastNanos < SAME_PRESS_NANOS) return;
    this.lastNanos = now;
    this.waiting.shift()?.(undefined);
  }
}
