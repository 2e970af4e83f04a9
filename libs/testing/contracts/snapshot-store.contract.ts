import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Journal, JournalReader } from '../../journal/journal.js';
import { trustedSnapshot, type Snapshot, type SnapshotStore } from '../../journal/snapshots.js';
import { freshShard } from './journal-subject.js';

export interface SnapshotSubject {
  readonly store: SnapshotStore;
  readonly journal: Journal;
  readonly reader: JournalReader;
}

function snapshotAt(sequence: number, hash = 'ab'.repeat(32), formatVersion = 1): Snapshot {
  return { sequence, hash, formatVersion, body: Buffer.from([0, 255, sequence]) };
}

export function describeSnapshotStore(name: string, create: () => Promise<SnapshotSubject>): void {
  describe(name, () => {
    let subject: SnapshotSubject;
    beforeAll(async () => {
      subject = await create();
    });

    it('gives back the newest as it was saved, whatever the order of saving', async () => {
      const shard = freshShard();
      expect(await subject.store.latest(shard)).toBeUndefined();
      for (const sequence of [5, 9, 7]) await subject.store.save(shard, snapshotAt(sequence));
      expect(await subject.store.latest(shard)).toEqual(snapshotAt(9));
      expect(await subject.store.latest(freshShard())).toBeUndefined();
    });

    it('keeps two, and the later of two at one sequence', async () => {
      const shard = freshShard();
      for (const sequence of [5, 7, 9]) await subject.store.save(shard, snapshotAt(sequence));
      await subject.store.save(shard, snapshotAt(9, 'cd'.repeat(32), 2));
      expect(await subject.store.latest(shard)).toEqual(snapshotAt(9, 'cd'.repeat(32), 2));
      expect(await subject.store.latest(shard, 9)).toEqual(snapshotAt(7));
      expect(await subject.store.latest(shard, 7)).toBeUndefined();
    });

    it('is trusted only as far as the journal bears it out', async () => {
      const { store, reader } = subject;
      const shard = freshShard();
      const writer = await subject.journal.open(shard);
      const { hashes } = await writer.append(['1', '2', '3']);
      await writer.close();
      await store.save(shard, snapshotAt(2, hashes[0]));
      expect(await trustedSnapshot(store, reader, shard, 1)).toEqual(snapshotAt(2, hashes[0]));
      expect(await trustedSnapshot(store, reader, shard, 2)).toBeUndefined();
      await store.save(shard, snapshotAt(3));
      expect(await trustedSnapshot(store, reader, shard, 1)).toEqual(snapshotAt(2, hashes[0]));
      await store.save(shard, snapshotAt(400, hashes[2]));
      expect(await trustedSnapshot(store, reader, shard, 1)).toBeUndefined();
    });
  });
}
