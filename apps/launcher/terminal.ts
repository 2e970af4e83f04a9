import type { Clock } from '#libs/platform/time/clock.js';

const NANOS_PER_TENTH = 100_000_000n;

/** What the operator sees. Everything else goes to the log files. */
export class LauncherTerminal {
  private readonly startNanos: bigint;

  constructor(private readonly clock: Clock) {
    this.startNanos = clock.monotonicNanos();
    // A closed terminal or `| head` must not stop the cluster.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  }

  /** A finished step, with the time since the start. */
  step(text: string): void {
    this.print(`${this.seconds().padStart(6)}  ${text}`);
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  problem(text: string): void {
    process.stderr.write(`sotto: ${text}\n`);
  }

  seconds(): string {
    const tenths = Number((this.clock.monotonicNanos() - this.startNanos) / NANOS_PER_TENTH);
    return `${(tenths / 10).toFixed(1)} s`;
  }
}
