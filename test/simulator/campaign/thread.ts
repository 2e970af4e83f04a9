import type { Worker } from 'node:worker_threads';
import type { Searched } from './search.js';
import { thrown } from './thrown.js';
import type { TrialName } from './trials.js';

/** What a thread is asked for. */
export type ThreadTask =
  | { readonly kind: 'SEARCH'; readonly seed: number; readonly keepsTrace: boolean }
  | { readonly kind: 'SHRINK'; readonly seed: number; readonly trial: TrialName; readonly check: string };

/** What was left of a trial that fails. */
export interface ShrunkTrial {
  readonly incidents: number;
  readonly what: string;
  readonly runs: number;
  readonly lines: readonly string[];
}

/** What a thread says: `ALIVE` where it begins with something that may take its time anew, a line as soon as it is noted. */
export type Word =
  | { readonly kind: 'ALIVE' }
  | { readonly kind: 'LINE'; readonly trial: TrialName; readonly line: string }
  | { readonly kind: 'SEARCHED'; readonly outcome: Searched }
  | { readonly kind: 'SHRUNK'; readonly shrunk: ShrunkTrial };

/** Where there was nobody left to sum it up. */
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
 * Searches one seed after another on a thread of its own. One that ends the thread, or keeps it for longer than anybody waits, has
 * failed like any other, and the next one gets a thread that is as good as new.
 */
export class SearchThread {
  private worker: Worker | undefined;
  /** What it ends of, where it has said so. */
  private fault: unknown;

  constructor(
    private readonly start: () => Worker,
    private readonly patienceSeconds: number,
  ) {}

  async search(seed: number, keepsTrace: boolean): Promise<Searched> {
    try {
      const word = await this.ask({ kind: 'SEARCH', seed, keepsTrace });
      if (word.kind !== 'SEARCHED') throw new TypeError('it was asked for a seed');
      // What a broken world has left behind must not break the next one.
      if (word.outcome.violation !== undefined) await this.end();
      return word.outcome;
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      return lostSeed(seed, error);
    }
  }

  /** In words why not, where that ended the thread or kept it for too long. */
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
      // Behind all that it has still said.
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

/** A world takes far less. One that takes more and more would end not its thread alone, as a rule, but the whole run. */
async function isTooLarge(worker: Worker): Promise<boolean> {
  try {
    const { used_heap_size: used } = await worker.getHeapStatistics();
    return used > MOST_MEGABYTES * 1024 ** 2;
  } catch {
    // It is gone, and that is told for itself.
    return false;
  }
}

const MOST_LINES = 50_000;

/** The last lines of the trial that is lived. */
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
