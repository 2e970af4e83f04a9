import { appendFileSync } from 'node:fs';
import { LauncherTerminal } from '#apps/launcher/terminal.js';
import type { Clock } from '#libs/platform/time/clock.js';

/** Writes what an operator would have seen to a file. */
export class LogTerminal extends LauncherTerminal {
  constructor(
    clock: Clock,
    private readonly file: string,
  ) {
    super(clock);
  }

  override print(text: string): void {
    appendFileSync(this.file, `${text}\n`);
  }

  override problem(text: string): void {
    this.print(`${this.seconds().padStart(8)}  ${text}`);
  }
}
