import type { JournalEntry } from '#libs/journal/journal.js';
import { incarnationIn } from '#libs/journal/incarnation/topic-incarnation.js';

export interface LifeChecks {
  /** The incarnation of the database. Undefined if only the journal is checked. */
  readonly own: string | undefined;
  /** The record up to which that database has everything. */
  readonly known: number;
}

/** One fault leads to others, so the first ones are enough. */
const KEPT = 20;

/**
 * Checks for which database incarnation each epoch of one shard was begun. A new incarnation must name the one that it replaces,
 * and a replaced one must not return. Epochs without an incarnation are from journals in PostgreSQL.
 */
export class LifeCheck {
  readonly faults: string[] = [];
  private readonly replaced = new Set<string>();
  private current: string | undefined;
  /** The record with which the current incarnation began. */
  private since = 0;

  constructor(private readonly checks: LifeChecks) {}

  take(entries: readonly JournalEntry[]): void {
    for (const { kind, sequence, payload } of entries) {
      if (kind !== 'epoch') continue;
      const { life, follows } = incarnationIn(payload);
      const { current: before } = this;
      if (life === before) continue;
      this.current = life;
      this.since = sequence;
      if (before === undefined || life === undefined) continue;
      if (follows !== before || this.replaced.has(life)) {
        this.addFault(
          `record ${sequence} takes it over for another database (life ${life}) than before (life ${before}), which had not been accepted: two databases have taken turns at it`,
        );
      }
      this.replaced.add(before);
    }
  }

  /** Call after the last record. */
  end(): void {
    const { own, known } = this.checks;
    const { current, since } = this;
    if (own === undefined || current === undefined || current === own || since <= known) return;
    this.addFault(
      `from record ${since} on it is written for another database (life ${current}), and this one (life ${own}) has what was done up to record ${known} alone`,
    );
  }

  private addFault(fault: string): void {
    if (this.faults.length < KEPT) this.faults.push(fault);
  }
}
