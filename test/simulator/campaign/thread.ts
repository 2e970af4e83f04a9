import type { Worker } from 'node:worker_threads';
import type { Searched } from './search.js';
import { thrown } from './thrown.js';
import type { TrialName } from './trials.js';

/** A task for a thread. */
export type ThreadTask =
  | { readonly kind: 'SEARCH'; readonly seed: number; readonly keepsTrace: boolean }
  | { readonly kind: 'SHRINK'; readonly seed: number; readonly trial: TrialName; readonly check: string };

/** The shrunk form of a trial that fails. */
export interface ShrunkTrial {
  readonly incidents: number;
  readonly what: string;
  readonly runs: number;
  readonly lines: readonly string[];
}

/**
 * A message from a thread. `ALIVE` restarts the patience before a step that may take long; a line is sent as
 * soon as it is noted.
 */
export type Word =
  | { readonly kind: 'ALIVE' }
  | { readonly kind: 'LINE'; readonly trial: TrialName; readonly line: string }
  | { readonly kind: 'SEARCHED'; readonly outcome: Searched }
  | { readonly kind: 'SHRUNK'; readonly shrunk: ShrunkTrial };

/** Instead of a digest, if the thread was lost before it could send one. */
const NO_DIGEST = 'unfinished';

class Lost extends Error {
  constructor(
    readonly check: string,
    what: string,
    readonly lines: readonly string[],
  ) {
    super(`${check}: ${what}`);
  }
}

/**
 * Searches one seed after another on a thread of its own. A seed that ends the thread, or exceeds its patience
 * or its memory, has failed; the next one gets a fresh thread.
 */
export class SearchThread {
  private worker: Worker | undefined;
  /** The error that the thread ended with, if it reported one. */
  private fault: unknown;

  constructor(
    private readonly start: () => Worker,
    private readonly patienceSeconds: number,
  ) {}

  async search(seed: number, keepsTrace: boolean): Promise<Searched> {
    try {
      const word = await this.ask({ kind: 'SEARCH', seed, keepsTrace });
      if (word.kind !== 'SEARCHED') throw new TypeError('it was asked for a seed');
      // State that a broken world left must not break the next one.
      if (word.outcome.violation !== undefined) await this.end();
      return word.outcome;
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      return lostSeed(seed, error);
    }
  }

  /** Returns the reason as text if shrinking ended the thread or took too long. */
  async shrink(seed: number, trial: TrialName, check: string): Promise<ShrunkTrial | string> {
    try {
      const word = await this.ask({ kind: 'SHRINK', seed, trial, check });
      if (word.kind !== 'SHRUNK') throw new TypeError('it was asked to shrink a trial');
      return word.shrunk;
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      return error.message;
    }
  }

  async end(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
  }

  private async ask(task: ThreadTask): Promise<Word> {
    this.worker ??= this.begin();
    try {
      return await this.answer(this.worker, task);
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  private begin(): Worker {
    this.fault = undefined;
    return this.start().on('error', (error) => {
      this.fault = error;
    });
  }

  private answer(worker: Worker, task: ThreadTask): Promise<Word> {
    return new Promise((resolve, reject) => {
      const told = new LinesSoFar();
      const lose = (check: string, what: string): void => {
        leave();
        reject(new Lost(check, what, told.lines));
      };
      const watch = setTimeout(() => {
        lose('every seed comes to an end', `this one did not within ${this.patienceSeconds} s`);
      }, this.patienceSeconds * 1_000);
      const scales = setInterval(() => {
        void isTooLarge(worker).then((isSo) => {
          if (isSo) lose('every seed has room', `this one took more than ${MOST_MEGABYTES} MB`);
        });
      }, WEIGHED_EVERY_MS);
      const onWord = (word: Word): void => {
        if (word.kind === 'ALIVE') watch.refresh();
        else if (word.kind === 'LINE') told.add(word.trial, word.line);
        else {
          leave();
          resolve(word);
        }
      };
      // Comes after all messages of the thread.
      const onExit = (code: number): void => {
        lose('no thread ends', this.fault === undefined ? `it ended with ${code}` : thrown(this.fault));
      };
      const leave = (): void => {
        clearTimeout(watch);
        clearInterval(scales);
        worker.off('message', onWord).off('exit', onExit);
      };
      worker.on('message', onWord).on('exit', onExit);
      worker.postMessage(task);
    });
  }
}

const WEIGHED_EVERY_MS = 250;
const MOST_MEGABYTES = 1_024;

/** A world takes far less. Without this check the whole run would run out of memory, and not only the thread. */
async function isTooLarge(worker: Worker): Promise<boolean> {
  try {
    const { used_heap_size: used } = await worker.getHeapStatistics();
    return used > MOST_MEGABYTES * 1024 ** 2;
  } catch {
    // The thread has ended, and its exit is reported separately.
    return false;
  }
}

const MOST_LINES = 50_000;

/** The last lines of the running trial. */
class LinesSoFar {
  private trial: TrialName | undefined;
  private kept: string[] = [];

  get lines(): readonly string[] {
    return this.kept.slice(-MOST_LINES);
  }

  add(trial: TrialName, line: string): void {
    if (trial !== this.trial || this.kept.length >= 2 * MOST_LINES) {
      this.kept = trial === this.trial ? this.kept.slice(-MOST_LINES) : [];
    }
    this.trial = trial;
    this.kept.push(line);
  }
}

function lostSeed(seed: number, { check, message, lines }: Lost): Searched {
  return {
    seed,
    trial: undefined,
    violation: { check, what: message },
    digest: NO_DIGEST,
    steps: 0,
    simulatedMillis: 0,
    coverage: {},
    lines,
  };
}
