import type { JournalReader } from './journal.js';

/** A shard's state as it was behind one record, so that recovery need not begin at the first. */
export interface Snapshot {
  readonly sequence: number;
  /** Of the record at `sequence`: ties the state to this journal and no other. */
  readonly hash: string;
  readonly formatVersion: number;
  readonly body: Buffer;
}

/** Keeps the last two of every shard. All of them may be thrown away at any time. */
export interface SnapshotStore {
  save(shard: number, snapshot: Snapshot): Promise<void>;
  /** The newest, or the newest from before `before`. What it holds is not checked: see `trustedSnapshot`. */
  latest(shard: number, before?: number): Promise<Snapshot | undefined>;
}

/** Whether the journal has, at the snapshot's sequence, the record that the snapshot was taken behind. */
export async function isSnapshotOf(
  reader: JournalReader,
  shard: number,
  { sequence, hash }: Snapshot,
): Promise<boolean> {
  const [entry] = await reader.read(shard, sequence, 1);
  return entry?.hash === hash;
}

/** The newest snapshot in this format that belongs to this journal; without one, recovery reads the journal from its start. */
export async function trustedSnapshot(
  store: SnapshotStore,
  reader: JournalReader,
  shard: number,
  formatVersion: number,
): Promise<Snapshot | undefined> {
  let snapshot = await store.latest(shard);
  while (snapshot !== undefined) {
    const isReadable = snapshot.formatVersion === formatVersion;
    if (isReadable && (await isSnapshotOf(reader, shard, snapshot))) return snapshot;
    snapshot = await store.latest(shard, snapshot.sequence);
  }
  return undefined;
}
