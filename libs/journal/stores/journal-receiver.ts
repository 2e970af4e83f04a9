import type { JournalEntry, JournalHead } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';

/** Takes records of another journal as they are, epochs and hashes included. Whoever uses it holds the JournalLock alone. */
export interface JournalReceiver {
  /** The last record of the shard; BEFORE_FIRST where it was never opened. */
  head(shard: number): Promise<JournalHead>;
  /** Some that follow one another behind the head; durable when it resolves. Where it fails the head says how far it came. */
  receive(shard: number, entries: readonly JournalEntry[]): Promise<void>;
  close(): Promise<void>;
}

/** What is received follows what is there. */
export function checkFollows(shard: number, head: JournalHead, first: JournalEntry): void {
  if (first.sequence === head.sequence + 1 && first.previousHash === head.hash) return;
  throw new JournalCorrupt(shard, first.sequence, `it does not follow record ${head.sequence}`);
}
