import type { JournalEntry } from './journal.js';

/** What an adapter adds to the group commit: where sealed records go. One call at a time, in the order of the sequences. */
export interface BatchSink {
  /**
   * One write, whole or not at all; never of nothing. Resolves when the records are durable and nobody else has taken the shard; rejects
   * with a JournalFailure otherwise, and is not called again after that.
   */
  write(records: readonly JournalEntry[]): Promise<void>;
  /** At any time, also beside a write. Resolves when nobody else has taken the shard; rejects with a JournalFenced when somebody has. */
  confirm(): Promise<void>;
  /** Why the next write is bound to fail, as far as is known without asking. */
  fault(): Error | undefined;
  /** Never rejects. */
  close(): Promise<void>;
}
