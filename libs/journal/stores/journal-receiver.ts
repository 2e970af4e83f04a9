import type { JournalEntry, JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';

/** Appends records of another copy of the journal as they are, epochs and hashes included. Its user holds the JournalLock alone. */
export interface JournalReceiver {
  /** The last record of the shard, or the head before the first. */
  head(shard: number): Promise<JournalHead>;
  /** Appends consecutive entries after the head. Resolves once they are durable; on failure `head()` tells how many were written. */
  receive(shard: number, entries: readonly JournalEntry[]): Promise<void>;
  close(): Promise<void>;
}

/** Throws where the entry does not follow the head. */
export function checkFollows(shard: number, head: JournalHead, first: JournalEntry): void {
  if (first.sequence === head.sequence + 1 && first.previousHash === head.hash) return;
  throw new JournalCorrupt(shard, first.sequence, `it does not follow record ${head.sequence}`);
}
