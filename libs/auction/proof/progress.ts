import type { Clock } from '#libs/platform/time/clock.js';

const EVERY_NANOS = 1_000_000_000n;

/** A line a second at most, so that a long run can be told from one that hangs. */
export class Progress {
  private told: bigint;

  constructor(
    private readonly clock: Clock,
    private readonly say: (line: string) => void,
  ) {
    this.told = clock.monotonicNanos();
  }

  tell(line: string): void {
    const now = this.clock.monotonicNanos();
    if (now - this.told < EVERY_NANOS) return;
    this.told = now;
    this.say(line);
  }
}
