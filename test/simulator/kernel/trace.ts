import { createHash } from 'node:crypto';
import type { Scheduler } from './scheduler.js';

/** What happened, in its order: as a digest always, and in words where somebody wants to read it. */
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

/** When a line of a trace was noted. */
export function millisOf(line: string): number {
  return Number.parseFloat(line);
}
