import { expect, it } from '@jest/globals';
import { recordHash } from '../../journal/hash-chain.js';
import { JournalCorrupt } from '../../journal/journal-errors.js';
import { everything, freshShard, range, type JournalSubject, type Tampering } from './journal-subject.js';

const LENGTH = 9;
/** Records 1 to 3 are in epoch 1, and 4 to 9 in epoch 2. Records 1 and 4 are the epoch records. */
const SECOND_EPOCH = 4;

async function written(subject: JournalSubject): Promise<number> {
  const shard = freshShard();
  const first = await subject.journalOf('ada').open(shard);
  await first.append(['"2"', '"3"']);
  const second = await subject.journalOf('ben').open(shard);
  await second.append(range(SECOND_EPOCH + 1, LENGTH).map((number) => `"${number}"`));
  await Promise.all([first.close(), second.close()]);
  return shard;
}

const ATTACKS: readonly (readonly [string, number, Tampering, number])[] = [
  ['a changed payload', 6, { payload: '"66"' }, 6],
  ['a changed hash', 6, { hash: 'ab'.repeat(32) }, 6],
  ['an event of an older epoch', 6, { epoch: 1 }, 6],
  ['an event of an epoch that never began', 6, { epoch: 3 }, 6],
  ['an epoch that goes back', SECOND_EPOCH, { epoch: 1 }, SECOND_EPOCH],
  ['an event made an epoch record', 6, { kind: 'epoch' }, 6],
  ['an epoch record made an event', SECOND_EPOCH, { kind: 'event' }, SECOND_EPOCH],
  ['a removed record', 6, 'removed', 6],
  ['a removed first record', 1, 'removed', 1],
  ['a record moved elsewhere', 6, { sequence: 600 }, 6],
];

export function describeChainChecks(subject: () => JournalSubject): void {
  it('reads pages of any size from any position', async () => {
    const { reader } = subject();
    const shard = await written(subject());
    const all = await everything(reader, shard);
    for (const from of range(1, LENGTH + 3)) {
      for (const limit of range(1, LENGTH + 1)) {
        expect(await reader.read(shard, from, limit)).toEqual(all.slice(from - 1, from - 1 + limit));
      }
    }
  });

  it('returns single entries in the order of the request', async () => {
    const { reader } = subject();
    const shard = await written(subject());
    const all = await everything(reader, shard);
    expect(await reader.entries(shard, [7, 1, 9, 4, 7])).toEqual([7, 1, 9, 4, 7].map((n) => all[n - 1]));
    expect(await reader.entries(shard, [])).toEqual([]);
    await expect(reader.entries(shard, [1, LENGTH + 1])).rejects.toMatchObject({ sequence: LENGTH + 1 });
  });

  it('returns the heads of all shards, and nothing for shards that were never opened', async () => {
    const { reader } = subject();
    const [left, right] = [await written(subject()), await written(subject())];
    const heads = await reader.heads();
    expect([heads.get(left), heads.get(right)]).toEqual([LENGTH, LENGTH]);
    const untouched = freshShard();
    expect(heads.has(untouched)).toBe(false);
    expect(await reader.heads([left, untouched])).toEqual(new Map([[left, LENGTH]]));
    expect(await reader.read(untouched, 1, 10)).toEqual([]);
  });

  it.each(ATTACKS)('finds %s and names the sequence', async (_, sequence, tampering, named) => {
    const { reader } = subject();
    const shard = await written(subject());
    await subject().tamper(shard, sequence, tampering);
    const corrupt = { name: 'JournalCorrupt', shard, sequence: named };
    await expect(reader.read(shard, 1, 100)).rejects.toMatchObject(corrupt);
    if (sequence > 1) await expect(reader.read(shard, sequence, 100)).rejects.toMatchObject(corrupt);
    await expect(reader.entries(shard, [sequence])).rejects.toMatchObject(corrupt);
    expect(await reader.read(shard, 1, named - 1)).toHaveLength(named - 1);
  });

  it('does not take a gap for the end of the shard, wherever a page ends and however long the gap is', async () => {
    const { reader } = subject();
    const shard = await written(subject());
    for (const gone of [6, 7, 8]) await subject().tamper(shard, gone, 'removed');
    const missing = { name: 'JournalCorrupt', sequence: 6 };
    for (const [from, limit] of [
      [1, 6],
      [1, 7],
      [5, 2],
      [6, 1],
      [6, 2],
      [6, 4],
    ] as const) {
      await expect(reader.read(shard, from, limit)).rejects.toMatchObject(missing);
    }
    expect(await reader.read(shard, 1, 5)).toHaveLength(5);
    await expect(reader.read(shard, 8, 1)).rejects.toMatchObject({ name: 'JournalCorrupt', sequence: 7 });
  });

  it('does not begin a page after a missing record', async () => {
    const shard = await written(subject());
    await subject().tamper(shard, 6, 'removed');
    const missing = { name: 'JournalCorrupt', sequence: 6 };
    await expect(subject().reader.read(shard, 7, 3)).rejects.toMatchObject(missing);
    await expect(subject().reader.entries(shard, [7])).rejects.toMatchObject(missing);
  });

  it('finds a forged record with a right hash, because the next record does not fit', async () => {
    const { reader } = subject();
    const shard = await written(subject());
    const [genuine] = await reader.entries(shard, [6]);
    const payload = '"forged"';
    await subject().tamper(shard, 6, { payload, hash: recordHash({ ...genuine!, payload }) });
    await expect(reader.read(shard, 1, 100)).rejects.toMatchObject({ name: 'JournalCorrupt', sequence: 7 });
    await expect(reader.entries(shard, [7])).rejects.toBeInstanceOf(JournalCorrupt);
  });

  it('shows no record of an older epoch after a newer one, even if the hashes fit', async () => {
    const { reader } = subject();
    const shard = await written(subject());
    const all = await everything(reader, shard);
    const last = all.at(-1)!;
    await subject().tamper(shard, LENGTH, { epoch: 1, hash: recordHash({ ...last, epoch: 1 }) });
    const before = all.slice(0, -1);
    // In a topic the record does not count, so a record is missing that others know. In a table no other record can be at its
    // position.
    const shown = await reader.read(shard, 1, 100).catch((error: unknown) => {
      expect(error).toMatchObject({ name: 'JournalCorrupt', sequence: LENGTH });
      return before;
    });
    expect(shown).toEqual(before);
    const missing = { name: 'JournalCorrupt', sequence: LENGTH };
    await expect(reader.entries(shard, [LENGTH])).rejects.toMatchObject(missing);
  });

  it('finds an epoch that never began, even if the hashes fit', async () => {
    const { reader } = subject();
    const shard = await written(subject());
    const [last] = await reader.entries(shard, [LENGTH]);
    for (const forgery of [{ epoch: 3 }, { kind: 'epoch' as const }]) {
      await subject().tamper(shard, LENGTH, { ...forgery, hash: recordHash({ ...last!, ...forgery }) });
      const corrupt = { name: 'JournalCorrupt', sequence: LENGTH };
      await expect(reader.read(shard, 1, 100)).rejects.toMatchObject(corrupt);
      await expect(reader.entries(shard, [LENGTH])).rejects.toMatchObject(corrupt);
      await subject().tamper(shard, LENGTH, { epoch: 2, kind: 'event', hash: last!.hash });
    }
    expect(await reader.read(shard, 1, 100)).toHaveLength(LENGTH);
  });

  it('does not let a writer open a shard whose last record is corrupt', async () => {
    const shard = await written(subject());
    await subject().tamper(shard, LENGTH, { payload: '"99"' });
    await expect(subject().journalOf('eve').open(shard)).rejects.toBeInstanceOf(JournalCorrupt);
  });
}
