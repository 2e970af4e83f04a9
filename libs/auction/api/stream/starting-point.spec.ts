import { beforeEach, describe, expect, it } from '@jest/globals';
import { evolve } from '../../rules/evolve/evolve.js';
import { OPENED_AT } from '#libs/testing/auctions/story.js';
import type { AuctionState } from '../../rules/state.js';
import { decodeEvent } from '../../rules/event-versions.js';
import { AuctionBook } from '../../shard/memory/auction-book.js';
import { momentOf, SNAPSHOT_FORMAT, writeMoment } from '../../shard/recovery/shard-snapshot.js';
import { randomSession } from '#libs/testing/auctions/journaled-auctions.js';
import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import { startingPoint } from './starting-point.js';

const journal = randomSession(7, 12, 0);
const head = journal.records.length;
const HISTORY = Math.floor(head / 8);

let snapshots: MemorySnapshotStore;

beforeEach(() => {
  snapshots = new MemorySnapshotStore();
});

async function snapshotAt(
  sequence: number,
  different: { hash?: string; formatVersion?: number } = {},
): Promise<void> {
  const book = new AuctionBook();
  for (const { sequence: position, kind, payload } of journal.records.slice(0, sequence)) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !('auction_id' in event)) continue;
    const entry = book.apply({ position, event });
    entry.durable = entry.head;
  }
  const content = await writeMoment(
    momentOf(sequence, book.all(), { lastEventAt: OPENED_AT, answers: new Map(), connections: new Map() }),
  );
  const { formatVersion = SNAPSHOT_FORMAT, ...otherwise } = different;
  const sealed = new SealedSnapshots({
    family: 'auction',
    store: snapshots,
    keys: [Buffer.alloc(32)],
    onRefused: () => undefined,
  });
  await sealed.save(0, { ...journal.records[sequence - 1]!, ...otherwise }, formatVersion, content);
}

/** The auctions as the journal has them at a position, by id. */
function statesAt(position: number): Map<string, AuctionState> {
  const states = new Map<string, AuctionState>();
  for (const { sequence, kind, payload } of journal.records.slice(0, position)) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !('auction_id' in event)) continue;
    states.set(event.auction_id, evolve(states.get(event.auction_id), { position: sequence, event }));
  }
  return states;
}

async function begun(history = HISTORY) {
  const { position, states } = await startingPoint(0, journal, snapshots, history);
  return { position, states: [...states] };
}

describe('where a gateway begins to read a journal', () => {
  it('is the first record without a snapshot, and in a short journal', async () => {
    expect(await begun()).toEqual({ position: 0, states: [] });
    await snapshotAt(head - 2 * HISTORY);
    expect(await begun(Math.ceil(head / 4))).toEqual({ position: 0, states: [] });
  });

  it('is the newest snapshot behind which there is a whole history, with the auctions of that moment', async () => {
    await snapshotAt(head - 3 * HISTORY);
    await snapshotAt(head - 2 * HISTORY);
    const { position, states } = await begun();
    expect(position).toBe(head - 2 * HISTORY);
    const expected = statesAt(position);
    expect(states.length).toBeGreaterThan(3);
    for (const state of states) expect(state).toEqual(expected.get(state.terms.auction_id));
    expect(states).toHaveLength(expected.size);
  });

  it('is the one before where the newest is too young, and the oldest where all are', async () => {
    await snapshotAt(head - 2 * HISTORY);
    await snapshotAt(head - 1);
    expect((await begun()).position).toBe(head - 2 * HISTORY);
    await snapshotAt(head - 3);
    expect((await begun()).position).toBe(head - 3);
  });

  it('is no snapshot of another journal or another format', async () => {
    await snapshotAt(head - 3 * HISTORY);
    await snapshotAt(head - 2 * HISTORY, { hash: 'f'.repeat(64) });
    expect((await begun()).position).toBe(head - 3 * HISTORY);
    await snapshotAt(head - 2 * HISTORY, { formatVersion: SNAPSHOT_FORMAT + 1 });
    expect((await begun()).position).toBe(head - 3 * HISTORY);
  });
});
