import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { beforeFirst, recordHash } from '../../journal/hash-chain.js';
import { JournalFenced, JournalRefused, JournalUnavailable } from '../../journal/journal-errors.js';
import { MAX_BATCH_BYTES, MAX_BATCH_RECORDS, MAX_PAYLOAD_BYTES } from '../../journal/limits.js';
import { describeChainChecks } from './journal-chain.contract.js';
import { describeFamilies } from './journal-families.contract.js';
import { describeFaults } from './journal-faults.contract.js';
import { describeModel } from './journal-model.contract.js';
import { everything, events, freshShard, range, type JournalSubject } from './journal-subject.js';

/** The contract of the journal. An adapter is complete when these tests pass. */
export function describeJournal(name: string, create: () => Promise<JournalSubject>): void {
  describe(name, () => {
    let subject: JournalSubject;
    beforeAll(async () => {
      subject = await create();
    });
    afterAll(() => subject.dispose());

    describe('a writer', () => describeWriter(() => subject));
    describe('two writers', () => describeRivals(() => subject));
    describe('limits', () => describeLimits(() => subject));
    describe('a reader', () => describeChainChecks(() => subject));
    describe('two families', () => describeFamilies(() => subject));
    describe('faults', () => describeFaults(() => subject));
    describe('any sequence of operations', () => describeModel(() => subject));
  });
}

function describeWriter(subject: () => JournalSubject): void {
  it('opens a shard with an epoch record that names the opener', async () => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    const [entry, ...others] = await everything(subject().reader, shard);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      shard,
      epoch: 1,
      sequence: 1,
      kind: 'epoch',
      previousHash: beforeFirst('auction').hash,
    });
    expect(JSON.parse(entry!.payload)).toEqual({ epoch: 1, opener: 'ada' });
    expect(writer.head).toEqual({ epoch: 1, sequence: 1, hash: entry!.hash });
    expect(writer.health()).toEqual({ ok: true });
    await writer.close();
  });

  it('assigns dense sequences and a hash chain that can be recomputed', async () => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    expect((await writer.append(['"a"', '"b"'])).firstSequence).toBe(2);
    const last = await writer.append(['"c"']);
    const all = await everything(subject().reader, shard);
    expect(all.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect(all.slice(1).map(({ payload }) => payload)).toEqual(['"a"', '"b"', '"c"']);
    for (const [index, entry] of all.entries()) {
      expect(entry.previousHash).toBe(all[index - 1]?.hash ?? beforeFirst('auction').hash);
      expect(entry.hash).toBe(recordHash(entry));
    }
    expect(last).toEqual({ firstSequence: 4, hashes: [all[3]!.hash] });
    expect(writer.head).toEqual({ epoch: 1, sequence: 4, hash: all[3]!.hash });
    await writer.close();
  });

  it('keeps the payloads of each caller together and in the order of the calls', async () => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    const calls = range(0, 99).map((call) =>
      range(0, call % 7).map((part) => JSON.stringify({ call, part })),
    );
    const done = await Promise.all(calls.map((call) => writer.append(call)));
    expect(await events(subject().reader, shard)).toEqual(calls.flat());
    let next = 2;
    for (const [index, { firstSequence, hashes }] of done.entries()) {
      expect(firstSequence).toBe(next);
      expect(hashes).toHaveLength(calls[index]!.length);
      next += hashes.length;
    }
    await writer.close();
  });

  it('keeps every character, and batches of a thousand payloads', async () => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    const odd = [
      '',
      ' ',
      '{"a":\t1,\n"b":"\\u0000"}',
      '"\u001e\u0001"',
      '"ß€\u{1f3db}\u{10ffff}\ufeff"',
      '{"{}\\",\'$1"}',
      'NULL',
    ];
    await writer.append(odd);
    const many = range(1, 1_000).map((number) => JSON.stringify({ number, text: '€'.repeat(number % 50) }));
    await writer.append(many);
    expect(await events(subject().reader, shard)).toEqual([...odd, ...many]);
    await writer.close();
  });

  it('writes queued appends when it closes, and accepts no more', async () => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    const queued = range(1, 20).map((number) => writer.append([String(number)]));
    const closed = writer.close();
    await expect(writer.append(['"late"'])).rejects.toBeInstanceOf(JournalUnavailable);
    await Promise.all([...queued, closed]);
    expect(await events(subject().reader, shard)).toEqual(range(1, 20).map(String));
    expect(writer.health().ok).toBe(false);
  });
}

function describeRivals(subject: () => JournalSubject): void {
  it('continue one chain, each in the next epoch', async () => {
    const shard = freshShard();
    for (const [index, opener] of ['ada', 'ben', 'cyd'].entries()) {
      const writer = await subject().journalOf(opener).open(shard);
      expect(writer.head).toMatchObject({ epoch: index + 1, sequence: index * 2 + 1 });
      await writer.append([`"of ${opener}"`]);
      await writer.close();
    }
    const all = await everything(subject().reader, shard);
    expect(all.map(({ epoch, kind }) => `${epoch} ${kind}`)).toEqual(
      [1, 2, 3].flatMap((epoch) => [`${epoch} epoch`, `${epoch} event`]),
    );
  });

  it('never both write: the second fences the first, which stays ended', async () => {
    const shard = freshShard();
    const first = await subject().journalOf('ada').open(shard);
    await first.append(['"before"']);
    const second = await subject().journalOf('ben').open(shard);
    await expect(first.append(['"too late"'])).rejects.toBeInstanceOf(JournalFenced);
    await expect(first.append(['"still too late"'])).rejects.toBeInstanceOf(JournalFenced);
    expect(first.health().ok).toBe(false);
    await second.append(['"after"']);
    expect(await events(subject().reader, shard)).toEqual(['"before"', '"after"']);
    await first.close();
    await second.close();
  });

  it('know who owns the shard when they confirm it', async () => {
    const shard = freshShard();
    const first = await subject().journalOf('ada').open(shard);
    await first.confirm();
    await Promise.all([first.append(['"a"']), first.confirm(), first.append(['"b"'])]);
    const second = await subject().journalOf('ben').open(shard);
    await expect(first.confirm()).rejects.toBeInstanceOf(JournalFenced);
    expect(first.health().ok).toBe(false);
    await second.confirm();
    await second.append(['"c"']);
    expect(await events(subject().reader, shard)).toEqual(['"a"', '"b"', '"c"']);
    await first.close();
    await second.close();
  });

  it('have known outcomes when one opens while the other appends', async () => {
    const shard = freshShard();
    let writer = await subject().journalOf('ada').open(shard);
    const acknowledged: string[] = [];
    for (const round of range(1, 25)) {
      const calls = range(1, 8).map((call) => [`"${round}-${call}-a"`, `"${round}-${call}-b"`]);
      const appends = calls.map((call) => writer.append(call).then(() => acknowledged.push(...call)));
      const rival = subject().journalOf('ben').open(shard);
      for (const outcome of await Promise.allSettled(appends)) {
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(JournalFenced);
      }
      await writer.close();
      writer = await rival;
    }
    await writer.close();
    expect(await events(subject().reader, shard)).toEqual(acknowledged);
  });

  it('of different shards do not disturb each other', async () => {
    const [left, right] = [freshShard(), freshShard()];
    const journal = subject().journalOf('ada');
    const writers = await Promise.all([journal.open(left), journal.open(right)]);
    await Promise.all(writers.map((writer) => writer.append([`"${writer.shard}"`])));
    expect(await events(subject().reader, left)).toEqual([`"${left}"`]);
    expect(await events(subject().reader, right)).toEqual([`"${right}"`]);
    await Promise.all(writers.map((writer) => writer.close()));
  });
}

function describeLimits(subject: () => JournalSubject): void {
  const refused: readonly (readonly [string, () => string[]])[] = [
    ['nothing', () => []],
    [
      'a payload that is too long in bytes',
      () => ['"ok"', '€'.repeat(Math.ceil((MAX_PAYLOAD_BYTES + 1) / 3))],
    ],
    ['too many payloads', () => Array<string>(MAX_BATCH_RECORDS + 1).fill('1')],
    ['too many bytes', () => Array<string>(17).fill('x'.repeat(MAX_BATCH_BYTES / 16 - 1))],
    ['a lone surrogate', () => ['"\ud800"']],
    ['U+0000', () => ['"\0"']],
  ];

  it.each(refused)('refuse %s, write nothing of it and leave the writer usable', async (_, payloads) => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    const outcomes = await Promise.allSettled([
      writer.append(['"before"']),
      writer.append(payloads()),
      writer.append(['"after"']),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(writer.append(payloads())).rejects.toBeInstanceOf(JournalRefused);
    expect(writer.health()).toEqual({ ok: true });
    expect(await events(subject().reader, shard)).toEqual(['"before"', '"after"']);
    await writer.close();
  });

  it('accept a payload of the maximum length', async () => {
    const shard = freshShard();
    const writer = await subject().journalOf('ada').open(shard);
    const payload = 'x'.repeat(MAX_PAYLOAD_BYTES);
    await writer.append([payload]);
    expect(await events(subject().reader, shard)).toEqual([payload]);
    await writer.close();
  });
}
