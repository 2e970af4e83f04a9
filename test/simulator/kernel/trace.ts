import { createHash } from 'node:crypto';
import type { Scheduler } from './scheduler.js';

/** The events of a world, in order: always as a digest, and as text if a listener is set. */
export class Trace {
  readonly lines: string[] = [];
  private readonly hash = createHash('sha256');

  constructor(
    private readonly scheduler: Scheduler,
    private readonly isKept: boolean,
  ) {}

  note(text: string): void {
    const { now, steps } = this.scheduler;
    this.hash.update(`${now} ${steps} ${text}\n`);
    if (this.isKept) this.lines.push(`${(now / 1_000_000).toFixed(3).padStart(11)} ms  ${text}`);
  }

  digest(): string {
    return this.hash.copy().digest('hex').slice(0, 16);
  }
}

/** The time at which a line of a trace was noted. */
export function millisOf(line: string): number {
  return Number.parseFloat(line);
}
