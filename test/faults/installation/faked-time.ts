import { renameSync, writeFileSync } from 'node:fs';

/** What the wall clock of a process shows, which may be something else than the machine's; how time passes it leaves alone. */
export class FakedTime {
  constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.shift(0);
  }

  /** For the process. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_RESET: '1',
    };
  }

  /** From at most a second later on. */
  shift(seconds: number): void {
    writeFileSync(`${this.file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s\n`);
    renameSync(`${this.file}.new`, this.file);
  }
}
