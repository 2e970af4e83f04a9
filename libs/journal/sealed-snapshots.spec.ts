import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryJournal, MemoryJournalStore } from '#libs/testing/journals/memory-journal.js';
import { MemorySnapshotStore } from '#libs/testing/journals/memory-snapshots.js';
import type { JournalEntry, JournalReader } from './journal.js';
import { type RefusedSnapshot, sealedContent, SealedSnapshots, type Snapshot } from './sealed-snapshots.js';

const SHARD = 1;
const FORMAT = 4;
const LAST = Number.MAX_SAFE_INTEGER;
const OLD = Buffer.alloc(32, 0x11);
const NEW = Buffer.alloc(32, 0x22);
const SEAL_BYTES = 32;
/** More than is hashed in one piece. */
const CONTENT = Buffer.alloc(1_100_000, 'what the shard remembers ');

let journal: MemoryJournalStore;
let store: MemorySnapshotStore;
let refused: RefusedSnapshot[];
let records: JournalEntry[];
let saved: Snapshot;

function under(...keys: [Buffer, ...Buffer[]]): SealedSnapshots {
  return new SealedSnapshots({ family: 'auction', store, keys, onRefused: (one) => refused.push(one) });
}

/** Returns the sequence of the trusted snapshot. */
async function found(
  by: SealedSnapshots = under(OLD),
  reader: JournalReader = journal,
  shard = SHARD,
): Promise<number | undefined> {
  const snapshot = await by.trusted(reader, shard, FORMAT, LAST);
  // A byte-by-byte comparison of megabytes of text would take seconds.
  if (snapshot !== undefined) expect(snapshot.content.equals(CONTENT)).toBe(true);
  return snapshot?.sequence;
}

/** A journal with another record at that position. */
function journalWith(record: JournalEntry): JournalReader {
  return {
    read: () => Promise.resolve([record]),
    entries: () => Promise.resolve([record]),
    heads: () => journal.heads(),
  };
}

/** Replaces the saved snapshot by a different one. */
async function stored(different: Partial<Snapshot>, shard = SHARD): Promise<void> {
  store = new MemorySnapshotStore();
  await store.save(shard, { ...saved, ...different });
}

function flipped(body: Buffer, at: number): Buffer {
  const other = Buffer.from(body);
  other[at] = (other[at] ?? 0) ^ 1;
  return other;
}

beforeEach(async () => {
  journal = new MemoryJournalStore();
  store = new MemorySnapshotStore();
  refused = [];
  for (const shard of [SHARD, SHARD + 1]) {
    const writer = await new MemoryJournal(journal).open(shard);
    await writer.append(['"a"', '"b"', '"c"']);
  }
  records = await journal.read(SHARD, 1, 10);
  await under(OLD).save(SHARD, records[2]!, FORMAT, CONTENT);
  saved = store.newest(SHARD)!;
});

describe('a snapshot', () => {
  it('belongs to one family only', async () => {
    const onRefused = (one: RefusedSnapshot): unknown => refused.push(one);
    const keys = [OLD] as const;
    const other = new SealedSnapshots({ family: 'execution', store, keys, onRefused });
    expect(await found(other)).toBeUndefined();
    expect(refused).toEqual([{ shard: SHARD, sequence: 3, reason: 'seal' }]);
    expect(await found()).toBe(3);
  });

  it('is trusted if unchanged, and only with its key', async () => {
    expect(await found()).toBe(3);
    expect(sealedContent(saved).equals(CONTENT)).toBe(true);
    expect(refused).toEqual([]);
    expect(await found(under(NEW))).toBeUndefined();
    expect(refused).toEqual([{ shard: SHARD, sequence: 3, reason: 'seal' }]);
  });

  it.each([
    ['another first byte of its MAC', (): Partial<Snapshot> => ({ body: flipped(saved.body, 0) })],
    ['another last byte of its MAC', () => ({ body: flipped(saved.body, SEAL_BYTES - 1) })],
    ['another first byte of its content', () => ({ body: flipped(saved.body, SEAL_BYTES) })],
    ['another last byte of its content', () => ({ body: flipped(saved.body, saved.body.length - 1) })],
    ['a truncated end', () => ({ body: saved.body.subarray(0, -1) })],
    ['something after its end', () => ({ body: Buffer.concat([saved.body, Buffer.from(' ')]) })],
    ['a missing MAC', () => ({ body: CONTENT })],
    ['a truncated MAC', () => ({ body: saved.body.subarray(0, SEAL_BYTES - 1) })],
    ['nothing at all', () => ({ body: Buffer.alloc(0) })],
    ['another record of the journal', () => ({ sequence: 2, hash: records[1]!.hash })],
  ])('is not trusted with %s', async (_, different) => {
    await stored(different());
    expect(await found()).toBeUndefined();
    expect(refused.map(({ reason }) => reason)).toEqual(['seal']);
  });

  it('is not trusted for another shard', async () => {
    // The record there is the same, so that only the MAC differs.
    await stored({}, SHARD + 1);
    const same = journalWith({ ...records[2]!, shard: SHARD + 1 });
    expect(await found(under(OLD), same, SHARD + 1)).toBeUndefined();
    expect(refused).toEqual([{ shard: SHARD + 1, sequence: 3, reason: 'seal' }]);
  });

  it.each([
    ['epoch', { epoch: 2 }],
    ['sequence', { sequence: 4 }],
    ['hash', { hash: 'ab'.repeat(32) }],
  ])('is not trusted after a record of another %s', async (_, different) => {
    const record = { ...records[2]!, ...different };
    await stored({ sequence: record.sequence, hash: record.hash });
    expect(await found(under(OLD), journalWith(record))).toBeUndefined();
    expect(refused.map(({ reason }) => reason)).toEqual(['seal']);
  });

  it('is not trusted as one of another format', async () => {
    await stored({ formatVersion: FORMAT + 1 });
    expect(await under(OLD).trusted(journal, SHARD, FORMAT + 1, LAST)).toBeUndefined();
    expect(await under(OLD).trusted(journal, SHARD, FORMAT, LAST)).toBeUndefined();
    expect(refused.map(({ reason }) => reason)).toEqual(['seal', 'format']);
  });

  it('is trusted with every key that is still set, and new ones use the first', async () => {
    expect(await found(under(NEW, OLD))).toBe(3);
    await under(NEW, OLD).save(SHARD, records[3]!, FORMAT, CONTENT);
    expect(await found(under(NEW))).toBe(4);
    // The former key alone verifies only the older snapshot.
    expect(await found(under(OLD))).toBe(3);
  });

  it('has a MAC from a key with no other use', () => {
    const { hash, epoch, sequence } = records[2]!;
    const asIdsAreMade = createHmac('sha256', OLD)
      .update(`${[FORMAT, SHARD, epoch, sequence, hash].join(' ')}\n`)
      .update(CONTENT)
      .digest();
    expect(saved.body.subarray(0, SEAL_BYTES)).not.toEqual(asIdsAreMade);
  });

  it('is skipped silently if it is later than the requested position', async () => {
    const atItsPosition = under(OLD).trusted(journal, SHARD, FORMAT, saved.sequence);
    expect(await atItsPosition).toMatchObject({ sequence: saved.sequence });
    expect(await under(OLD).trusted(journal, SHARD, FORMAT, saved.sequence - 1)).toBeUndefined();
    expect(refused).toEqual([]);
  });

  it('is replaced by the older one if it is not trusted', async () => {
    await under(NEW).save(SHARD, records[3]!, FORMAT, Buffer.from('forged'));
    expect(await found()).toBe(3);
    expect(refused).toEqual([{ shard: SHARD, sequence: 4, reason: 'seal' }]);
  });
});
