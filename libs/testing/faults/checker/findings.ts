import { Violation } from '../../simulator/oracle/violation.js';

const KEPT = 100;

/** What was found wrong, and how much was looked at. */
export class Findings {
  readonly violations: string[] = [];
  readonly checked = new Map<string, number>();
  found = 0;

  /** One look. What it throws as a broken promise is kept, and the next look is taken all the same. */
  look(what: string, check: () => void): void {
    this.count(what);
    try {
      check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.add(error.message);
    }
  }

  add(violation: string): void {
    this.found += 1;
    if (this.violations.length < KEPT) this.violations.push(violation);
  }

  /** All that somebody else has found. */
  take(other: Findings): void {
    for (const violation of other.violations) this.add(violation);
    for (const [what, count] of other.checked) this.count(what, count);
  }

  count(what: string, by = 1): void {
    this.checked.set(what, (this.checked.get(what) ?? 0) + by);
  }
}
