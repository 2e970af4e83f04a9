import type { JournalEntry } from '../journal.js';

const MOST = 4_096;
const MOST_CHARS = 8 * 1024 * 1024;

/** The latest entries of a shard, which most readers request. */
export class RecentEntries {
  private entries: JournalEntry[] = [];
  private chars = 0;

  /** Adds entries that directly follow the last ones. */
  add(entries: readonly JournalEntry[]): void {
    this.entries.push(...entries);
    for (const { payload } of entries) this.chars += payload.length;
    let gone = Math.max(0, this.entries.length - MOST);
    let { chars } = this;
    for (const [index, { payload }] of this.entries.entries()) {
      if (index >= gone && chars <= MOST_CHARS) break;
      gone = Math.max(gone, index + 1);
      chars -= payload.length;
    }
    if (gone > 0) this.entries = this.entries.slice(gone);
    this.chars = chars;
  }

  /** Undefined if some of the entries are gone. */
  slice(from: number, to: number): JournalEntry[] | undefined {
    const first = this.entries[0]?.sequence;
    const last = this.entries.at(-1)?.sequence;
    if (first === undefined || last === undefined || from < first || to > last) return undefined;
    return this.entries.slice(from - first, to - first + 1);
  }
}
