import type { JournalEntry, JournalReader } from './journal.js';

/** A shard's state after one record, so that recovery need not begin at the first. */
export interface Snapshot {
  readonly sequence: number;
  /** Of the record at `sequence`: ties the state to this journal and no other. */
  readonly hash: string;
  readonly formatVersion: number;
  /** A MAC and the content that it covers: see `SealedSnapshots`. */
  readonly body: Buffer;
}

/** Keeps the last two of every shard. All of them may be deleted at any time. */
export interface SnapshotStore {
  save(shard: number, snapshot: Snapshot): Promise<void>;
  /** The newest, or the newest from before `before`. What it holds is not checked: see `SealedSnapshots`. */
  latest(shard: number, before?: number): Promise<Snapshot | undefined>;
}

/** The record after which the snapshot was taken, if the journal has it. */
export async function recordBehind(
  reader: JournalReader,
  shard: number,
  { sequence, hash }: Pick<Snapshot, 'sequence' | 'hash'>,
): Promise<JournalEntry | undefined> {
  const [entry] = await reader.read(shard, sequence, 1);
  return entry?.hash === hash ? entry : undefined;
}
