import { describe, expect, it } from '@jest/globals';
import { encodeEvent } from '../../rules/event-versions.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import { AuctionBook } from '../memory/auction-book.js';
import { NotedConnections } from '../connections/noted-connections.js';
import type { AuctionHistories } from '../ports.js';
import { recover, type Recovered } from './recovery.js';
import { StoredAnswers } from '../memory/stored-answers.js';

const EVENTS = 5;
const SHARD = 0;
const NO_HISTORIES: AuctionHistories = {
  keep: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
};

/** No time passes: whoever waits goes on at once. */
const clock: Clock = {
  epochNanos: () => 0n,
  monotonicNanos: () => 0n,
  after: (_millis, action) => {
    queueMicrotask(action);
    return () => undefined;
  },
};

type Shown = (entries: readonly JournalEntry[]) => JournalEntry[];

/** Recovers from a journal of which the reader knows so many records at its first look, and more with each. */
async function recovered(
  known: number,
  more: number,
  shown: Shown = (entries) => [...entries],
  successorWrites = 0,
): Promise<Recovered> {
  const store = new MemoryJournalStore();
  const writer = await new MemoryJournal(store).open(SHARD);
  const note = { version: 1, at: '2026-09-21T14:13:20.000000000Z', type: 'SHARD_DRAINED' } as const;
  const events = Array.from({ length: EVENTS }, () => encodeEvent({ ...note, data: { operator: 'o' } }));
  await writer.append(events);
  const { head } = writer;
  if (successorWrites > 0) {
    const successor = await new MemoryJournal(store).open(SHARD);
    await successor.append(events.slice(0, successorWrites));
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
  return recover({
    shard: SHARD,
    reader,
    snapshots: new SealedSnapshots({
      family: 'auction',
      store: new MemorySnapshotStore(),
      keys: [Buffer.alloc(32)],
      onRefused: () => undefined,
    }),
    book: new AuctionBook(),
    stored: new StoredAnswers(SHARD, reader, NO_HISTORIES),
    noted: new NotedConnections(),
    clock,
    head,
  });
}

describe('a recovery', () => {
  it.each([
    [EVENTS + 1, 0],
    [1, 1],
    [0, 2],
  ])(
    'has every event, even of a reader that knows %d records at first and %d more each time',
    async (known, more) => {
      expect(await recovered(known, more)).toMatchObject({ events: EVENTS });
    },
  );

  it('takes what a successor has written since for no damage: its writer hears that it was deposed', async () => {
    const all = EVENTS + 3;
    expect(await recovered(all, 0, undefined, 1)).toMatchObject({ events: EVENTS });
  });

  it('does not begin without what its writer knows to be durable', async () => {
    await expect(recovered(3, 0)).rejects.toBeInstanceOf(JournalUnreadable);
  });

  const other = 'ab'.repeat(32);
  it.each<[string, Shown]>([
    [
      'ends with another record than its writer knows',
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
    // In pages of two, so that one begins with the third.
    await expect(recovered(0, 2, shown)).rejects.toBeInstanceOf(JournalCorrupt);
  });
});
