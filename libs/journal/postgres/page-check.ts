import { checkNext, type StoredRecord } from '../chain-check.js';
import { beforeFirst } from '../hash-chain.js';
import type { JournalEntry, JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';
import type { JournalId } from '../journal-id.js';

/**
 * Checks the records from `from` up to `end` as they come. The record before `from` comes first, because the chain is checked from
 * there. The first record after the page may come last; it tells a gap from the end of the shard.
 */
export class PageCheck {
  private readonly entries: JournalEntry[] = [];
  private before: JournalHead | undefined;
  private goesOn = false;

  constructor(
    private readonly journal: JournalId,
    private readonly from: number,
    private readonly end: number,
  ) {
    this.before = from === 1 ? beforeFirst(journal.family) : undefined;
  }

  take(record: StoredRecord): void {
    if (record.sequence >= this.end) {
      this.goesOn = true;
    } else if (this.before === undefined) {
      if (record.sequence !== this.from - 1) throw this.missing(this.from - 1);
      this.before = record;
    } else {
      const entry = checkNext(this.journal.shard, this.before, record);
      this.entries.push(entry);
      this.before = entry;
    }
  }

  /** Returns the page. Throws if a record is missing. */
  page(): JournalEntry[] {
    const next = this.before === undefined ? this.from - 1 : this.from + this.entries.length;
    if (this.goesOn && next < this.end) throw this.missing(next);
    return this.entries;
  }

  private missing(sequence: number): JournalCorrupt {
    return new JournalCorrupt(this.journal.shard, sequence, 'the record is missing');
  }
}
