import type { JournalEntry } from '#libs/journal/journal.js';
import { incarnationIn } from '#libs/journal/incarnation/topic-incarnation.js';

export interface LifeChecks {
  /** Of the database that is asked; undefined where nothing beside the journal is. */
  readonly own: string | undefined;
  /** Up to which record that database has everything. */
  readonly known: number;
}

/** One is followed by others; whoever looks begins at the first. */
const KEPT = 20;

/**
 * For which databases the epochs of one shard were begun, record by record as they come. Another database takes over where the one before was
 * given up for it, says so, and the other never comes back. An epoch without a life is of journals that were in PostgreSQL.
 */
export class LifeCheck {
  readonly faults: string[] = [];
  private readonly left = new Set<string>();
  private current: string | undefined;
  /** The record by which the current life began. */
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
      if (follows !== before || this.left.has(life)) {
        this.object(
          `record ${sequence} takes it over for another database (life ${life}) than before (life ${before}), which had not been accepted: two databases have taken turns at it`,
        );
      }
      this.left.add(before);
    }
  }

  /** To be called when all have been taken. */
  end(): void {
    const { own, known } = this.checks;
    const { current, since } = this;
    if (own === undefined || current === undefined || current === own || since <= known) return;
    this.object(
      `from record ${since} on it is written for another database (life ${current}), and this one (life ${own}) has what was done up to record ${known} alone`,
    );
  }

  private object(fault: string): void {
    if (this.faults.length < KEPT) this.faults.push(fault);
  }
}
