import { describe, expect, it } from '@jest/globals';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import { recoverMemory } from './recovery.js';

const EVENTS = 5;
const ALL = Array.from({ length: EVENTS }, (_, index) => `event ${index}`);
const SHARD = 0;

/** Time does not pass: every wait ends at once. */
const clock: Clock = {
  epochNanos: () => 0n,
  monotonicNanos: () => 0n,
  after: (_millis, action) => {
    queueMicrotask(action);
    return () => undefined;
  },
};

type Shown = (entries: readonly JournalEntry[]) => JournalEntry[];

/** Recovers from a journal whose reader first sees `known` records, and `more` with each read. Returns the replayed records. */
async function recovered(
  known: number,
  more: number,
  shown: Shown = (entries) => [...entries],
  successorWrites = 0,
): Promise<string[]> {
  const store = new MemoryJournalStore();
  const writer = await new MemoryJournal(store).open(SHARD);
  await writer.append(ALL);
  const { head } = writer;
  if (successorWrites > 0) {
    const successor = await new MemoryJournal(store).open(SHARD);
    await successor.append(ALL.slice(0, successorWrites));
  }
  let visible = known - more;
  const reader: JournalReader = {
    read: async (shard, from, limit) => {
      visible += more;
      const entries = await store.read(shard, from, limit);
      return shown(entries.filter(({ sequence }) => sequence <= visible));
    },
    entries: (shard, sequences) => store.entries(shard, sequences),
    heads: () => store.heads(),
  };
  const replayed: string[] = [];
  const { events } = await recoverMemory({
    family: 'auction',
    shard: SHARD,
    reader,
    snapshots: new SealedSnapshots({
      family: 'auction',
      store: new MemorySnapshotStore(),
      keys: [Buffer.alloc(32)],
      onRefused: () => undefined,
    }),
    format: 1,
    clock,
    head,
    restore: () => undefined,
    replay: (_position, payload) => replayed.push(payload),
  });
  expect(events).toBe(replayed.length);
  return replayed;
}

describe('a recovery', () => {
  it.each([
    [EVENTS + 1, 0],
    [1, 1],
    [0, 2],
  ])(
    'reads every event, even from a reader that sees %d records at first and %d more each time',
    async (known, more) => {
      expect(await recovered(known, more)).toEqual(ALL);
    },
  );

  it("does not treat a successor's records as damage", async () => {
    const all = EVENTS + 3;
    expect(await recovered(all, 0, undefined, 1)).toEqual(ALL);
  });

  it('does not begin without records that its writer knows to be durable', async () => {
    await expect(recovered(3, 0)).rejects.toBeInstanceOf(JournalUnreadable);
  });

  const other = 'ab'.repeat(32);
  it.each<[string, Shown]>([
    [
      'ends with a record that its writer does not know',
      (entries) =>
        entries.map((entry) => (entry.sequence === EVENTS + 1 ? { ...entry, hash: other } : entry)),
    ],
    [
      'does not begin at the beginning',
      (entries) => entries.map((entry) => (entry.sequence === 1 ? { ...entry, previousHash: other } : entry)),
    ],
    [
      'changes from one page to the next',
      (entries) => entries.map((entry) => (entry.sequence === 3 ? { ...entry, previousHash: other } : entry)),
    ],
  ])('refuses a journal that %s', async (_, shown) => {
    // Pages have two records, so that one begins with the third.
    await expect(recovered(0, 2, shown)).rejects.toBeInstanceOf(JournalCorrupt);
  });
});
