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
  const table = new AuctionBook();
  for (const { sequence: position, kind, payload } of journal.records.slice(0, sequence)) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !('auction_id' in event)) continue;
    const entry = table.apply({ position, event });
    entry.durable = entry.head;
  }
  const content = await writeMoment(
    momentOf(sequence, table.all(), { lastEventAt: OPENED_AT, answers: new Map(), connections: new Map() }),
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

/** The auctions at a position of the journal, by id. */
function statesAt(position: number): Map<string, AuctionState> {
  const states = new Map<string, AuctionState>();
  for (const { sequence, kind, payload } of journal.records.slice(0, position)) {
    const event = kind === 'event' ? decodeEvent(payload) : undefined;
    if (event === undefined || !('auction_id' in event)) continue;
    states.set(event.auction_id, evolve(states.get(event.auction_id), { position: sequence, event }));
  }
  return states;
}

async function start(history = HISTORY) {
  const { position, states } = await startingPoint(0, journal, snapshots, history);
  return { position, states: [...states] };
}

describe('the point from which a gateway reads a journal', () => {
  it('is the first record if there is no snapshot, or if the journal is short', async () => {
    expect(await start()).toEqual({ position: 0, states: [] });
    await snapshotAt(head - 2 * HISTORY);
    expect(await start(Math.ceil(head / 4))).toEqual({ position: 0, states: [] });
  });

  it('is the newest snapshot with a full history after it, with the auctions of that time', async () => {
    await snapshotAt(head - 3 * HISTORY);
    await snapshotAt(head - 2 * HISTORY);
    const { position, states } = await start();
    expect(position).toBe(head - 2 * HISTORY);
    const expected = statesAt(position);
    expect(states.length).toBeGreaterThan(3);
    for (const state of states) expect(state).toEqual(expected.get(state.terms.auction_id));
    expect(states).toHaveLength(expected.size);
  });

  it('is an older snapshot if the newest is too recent, and the oldest if all are too recent', async () => {
    await snapshotAt(head - 2 * HISTORY);
    await snapshotAt(head - 1);
    expect((await start()).position).toBe(head - 2 * HISTORY);
    await snapshotAt(head - 3);
    expect((await start()).position).toBe(head - 3);
  });

  it('is never a snapshot of another journal or another format', async () => {
    await snapshotAt(head - 3 * HISTORY);
    await snapshotAt(head - 2 * HISTORY, { hash: 'f'.repeat(64) });
    expect((await start()).position).toBe(head - 3 * HISTORY);
    await snapshotAt(head - 2 * HISTORY, { formatVersion: SNAPSHOT_FORMAT + 1 });
    expect((await start()).position).toBe(head - 3 * HISTORY);
  });
});
