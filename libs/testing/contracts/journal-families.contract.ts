import { expect, it } from '@jest/globals';
import { beforeFirst } from '../../journal/hash-chain.js';
import { JournalCorrupt } from '../../journal/journal-errors.js';
import { everything, events, freshShard, type JournalSubject } from './journal-subject.js';

/** Two families in one store. */
export function describeFamilies(subject: () => JournalSubject): void {
  it('may have the same shard number, and share nothing else', async () => {
    const { reader, other } = subject();
    const shard = freshShard();
    const ours = await subject().journalOf('ada').open(shard);
    await ours.append(['"ours"']);
    expect((await other.reader.heads()).has(shard)).toBe(false);
    expect(await other.reader.read(shard, 1, 10)).toEqual([]);

    const theirs = await other.journal.open(shard);
    expect(theirs.head).toMatchObject({ epoch: 1, sequence: 1 });
    await theirs.append(['"theirs"', '"theirs too"']);
    await ours.confirm();
    await ours.append(['"still ours"']);

    expect(await events(reader, shard)).toEqual(['"ours"', '"still ours"']);
    expect(await events(other.reader, shard)).toEqual(['"theirs"', '"theirs too"']);
    const heads = [await reader.heads([shard]), await other.reader.heads([shard])];
    expect(heads.map((each) => each.get(shard))).toEqual([3, 3]);
    await Promise.all([ours.close(), theirs.close()]);
  });

  it('give the same content different hashes', async () => {
    const { reader, other } = subject();
    const shard = freshShard();
    for (const journal of [subject().journalOf('ada'), other.journal]) {
      const writer = await journal.open(shard);
      await writer.append(['"same"']);
      await writer.close();
    }
    const [ours, theirs] = [await everything(reader, shard), await everything(other.reader, shard)];
    expect(ours.map(({ payload }) => payload)).toEqual(theirs.map(({ payload }) => payload));
    expect(ours[0]?.previousHash).toBe(beforeFirst('auction').hash);
    expect(theirs[0]?.previousHash).toBe(beforeFirst('execution').hash);
    for (const [index, { hash }] of ours.entries()) expect(theirs[index]?.hash).not.toBe(hash);
  });

  it("neither read nor continue each other's records", async () => {
    const { reader, other } = subject();
    const shard = freshShard();
    await (await subject().journalOf('ada').open(shard)).close();
    await subject().giveToOther(shard);
    expect(await everything(reader, shard)).toHaveLength(1);
    const damage = { sequence: 1, reason: expect.stringContaining('its hash is not') };
    const reading = other.reader.read(shard, 1, 10);
    await expect(reading).rejects.toBeInstanceOf(JournalCorrupt);
    await expect(other.reader.entries(shard, [1])).rejects.toMatchObject(damage);
    await expect(other.journal.open(shard)).rejects.toMatchObject(damage);
  });
}
