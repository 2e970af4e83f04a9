import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Journal, JournalReader } from '#libs/journal/journal.js';
import { SealedSnapshots, type Snapshot, type SnapshotStore } from '#libs/journal/sealed-snapshots.js';
import { freshShard } from './journal-subject.js';

const LAST = Number.MAX_SAFE_INTEGER;

export interface SnapshotSubject {
  readonly store: SnapshotStore;
  /** The store of another family, in the same database. */
  readonly other: SnapshotStore;
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

    it('returns the newest snapshot as it was saved, whatever the order of saving', async () => {
      const shard = freshShard();
      expect(await subject.store.latest(shard)).toBeUndefined();
      for (const sequence of [5, 9, 7]) await subject.store.save(shard, snapshotAt(sequence));
      expect(await subject.store.latest(shard)).toEqual(snapshotAt(9));
      expect(await subject.store.latest(freshShard())).toBeUndefined();
    });

    it('keeps the last two, and the later of two at one sequence', async () => {
      const shard = freshShard();
      for (const sequence of [5, 7, 9]) await subject.store.save(shard, snapshotAt(sequence));
      await subject.store.save(shard, snapshotAt(9, 'cd'.repeat(32), 2));
      expect(await subject.store.latest(shard)).toEqual(snapshotAt(9, 'cd'.repeat(32), 2));
      expect(await subject.store.latest(shard, 9)).toEqual(snapshotAt(7));
      expect(await subject.store.latest(shard, 7)).toBeUndefined();
    });

    it('keeps the families apart', async () => {
      const shard = freshShard();
      await subject.store.save(shard, snapshotAt(5));
      expect(await subject.other.latest(shard)).toBeUndefined();
      for (const sequence of [6, 7, 8]) await subject.other.save(shard, snapshotAt(sequence));
      expect(await subject.store.latest(shard)).toEqual(snapshotAt(5));
      expect(await subject.other.latest(shard)).toEqual(snapshotAt(8));
    });

    it('returns only snapshots with a MAC whose record is in the journal', async () => {
      const { store, reader } = subject;
      const refused: unknown[] = [];
      const onRefused = (one: unknown): unknown => refused.push(one);
      const sealed = new SealedSnapshots({
        family: 'auction',
        store,
        keys: [Buffer.alloc(32, 1)],
        onRefused,
      });
      const shard = freshShard();
      const writer = await subject.journal.open(shard);
      const { hashes } = await writer.append(['1', '2', '3']);
      await writer.close();
      const head = { epoch: 1, sequence: 2, hash: hashes[0]! };
      const content = Buffer.from([0, 255, 2]);
      await sealed.save(shard, head, 1, content);
      expect(await sealed.trusted(reader, shard, 1, LAST)).toEqual({ sequence: 2, hash: head.hash, content });
      expect(await sealed.trusted(reader, shard, 2, LAST)).toBeUndefined();
      await sealed.save(shard, { ...head, sequence: 3 }, 1, content);
      expect(await sealed.trusted(reader, shard, 1, LAST)).toEqual({ sequence: 2, hash: head.hash, content });
      await sealed.save(shard, { ...head, sequence: 400 }, 1, content);
      expect(await sealed.trusted(reader, shard, 1, LAST)).toBeUndefined();
      expect(refused).toEqual([
        { shard, sequence: 2, reason: 'format' },
        { shard, sequence: 3, reason: 'journal' },
        { shard, sequence: 400, reason: 'journal' },
        { shard, sequence: 3, reason: 'journal' },
      ]);
    });
  });
}
