import { Violation } from '../../simulator/oracle/violation.js';
import { Sorts } from './sorts.js';

const JUDGED = 'everything can be judged';
const STACK_LINES = 3;

/** What was found wrong, and how much was checked. */
export class Findings {
  readonly checked = new Map<string, number>();
  private readonly sorts = new Sorts();

  get found(): number {
    return this.sorts.found;
  }

  /** Some examples of each sort. */
  get violations(): string[] {
    return this.sorts.all.flatMap(({ examples }) => examples);
  }

  /** For a report. */
  get lines(): string[] {
    return this.sorts.lines;
  }

  /** Runs one check. An error that it throws is recorded, and later checks still run. */
  look(what: string, check: () => void): void {
    this.count(what);
    try {
      check();
    } catch (error) {
      this.addThrown(what, error);
    }
  }

  /** The same for an asynchronous check; undefined if it failed. */
  async part<Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      this.addThrown(what, error);
      return undefined;
    }
  }

  add(violation: string): void {
    this.sorts.add(violation);
  }

  /** Adds all findings of another instance. */
  take(other: Findings): void {
    this.takeSorts(other.sorts);
    for (const [what, count] of other.checked) this.count(what, count);
  }

  takeSorts(sorts: Sorts): void {
    this.sorts.take(sorts);
  }

  count(what: string, by = 1): void {
    this.checked.set(what, (this.checked.get(what) ?? 0) + by);
  }

  /** A broken promise, or an error of the check itself. */
  private addThrown(what: string, error: unknown): void {
    if (error instanceof Violation) this.add(error.message);
    else this.add(`${JUDGED}: ${what}: ${wordsOf(error)}`);
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).split('\n', STACK_LINES).join(' ');
}
