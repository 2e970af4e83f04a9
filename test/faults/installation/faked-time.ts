import { renameSync, writeFileSync } from 'node:fs';

/** Sets the wall clock of a process apart from the machine's; the speed of time is unchanged. */
export class FakedTime {
  constructor(
    private readonly library: string,
    private readonly file: string,
  ) {
    this.shift(0);
  }

  /** The environment of the process. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_RESET: '1',
    };
  }

  /** Takes effect within a second. */
  shift(seconds: number): void {
    writeFileSync(`${this.file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}s\n`);
    renameSync(`${this.file}.new`, this.file);
  }
}
