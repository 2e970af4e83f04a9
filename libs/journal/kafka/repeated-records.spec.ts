import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { everything, until } from '#libs/testing/contracts/journal-subject.js';
import { eventsOf, JournalWorld, SHARD } from '#libs/testing/kafka/journal-world.js';
import { linkEpoch, linkEvent } from '../hash-chain.js';
import type { JournalEntry, JournalHead, JournalWriter } from '../journal.js';
import { JournalAmbiguous, JournalCorrupt } from '../journal-errors.js';
import type { KafkaJournalReader } from './kafka-reader.js';
import { encodeRecord } from './record-format.js';
import { ShardLog } from './shard-log.js';
import { surveyTopic } from './topic-survey.js';

/** Sequences: 1 is the epoch record of epoch 1. 4 is the epoch record of epoch 2, whose events are 5 to 7. */
const [EPOCH, EARLIER, HEAD] = [4, 5, 7];

let world: JournalWorld;
let writer: JournalWriter;
let written: JournalEntry[];

beforeEach(async () => {
  world = new JournalWorld();
  await (await world.open()).append(['"2"', '"3"']);
  writer = await world.open();
  for (const payload of ['"5"', '"6"', '"7"']) await writer.append([payload]);
  written = await everything(world.reader(), SHARD);
});
afterEach(() => world.close());

function record(sequence: number): JournalEntry {
  const found = written[sequence - 1];
  if (found === undefined) throw new RangeError(`there is no record ${sequence}`);
  return found;
}

async function send(...entries: readonly JournalEntry[]): Promise<void> {
  await world.topic.open().append(
    entries.map((entry) => encodeRecord(entry, undefined)),
    1_000,
  );
}

/** A reader that has followed the journal, one that began at its known end, and one that has read nothing. */
async function readers(): Promise<KafkaJournalReader[]> {
  const [follows, begins] = [world.reader(), world.reader()];
  await follows.heads();
  const { hash } = record(HEAD);
  expect(await begins.begin(SHARD, { offset: HEAD - 1, sequence: HEAD, hash })).toBe('known');
  return [follows, begins, world.reader()];
}

function again(sequence: number, change: Partial<JournalEntry>): () => JournalEntry {
  return () => ({ ...record(sequence), ...change });
}

const FORGED: readonly (readonly [string, () => JournalEntry])[] = [
  ['the last record with another payload', again(HEAD, { payload: '"forged"' })],
  ['an earlier record with another payload', again(EARLIER, { payload: '"forged"' })],
  ['the last record with another hash', again(HEAD, { hash: 'ab'.repeat(32) })],
  ['the epoch record with another payload', again(EPOCH, { payload: '{"epoch":2,"opener":"eve"}' })],
  ['the epoch record as an event', again(EPOCH, { kind: 'event' })],
  ['the last record as an epoch record', again(HEAD, { kind: 'epoch' })],
  ['a record of the epoch before as its own', again(2, { epoch: 2 })],
  ['a sequence that no record has', again(HEAD, { sequence: 0 })],
];

const damage = { name: 'JournalCorrupt', shard: SHARD, sequence: HEAD + 1, exitCode: 65 };
const named = `offset ${HEAD} of its topic holds another record`;

describe.each(FORGED)('after %s, although its sequence and hash are there already,', (_, forged) => {
  it('no reader continues, and each gets an error', async () => {
    const all = await readers();
    await send(forged());
    for (const reader of all) {
      expect(await reader.heads()).toEqual(new Map([[SHARD, HEAD + 1]]));
      await expect(reader.read(SHARD, HEAD + 1, 10)).rejects.toMatchObject(damage);
      await expect(reader.read(SHARD, HEAD + 1, 10)).rejects.toThrow(named);
      expect(await reader.read(SHARD, 1, HEAD)).toEqual(written);
    }
    await expect(surveyTopic({ family: 'auction', shard: SHARD }, world.topic.open())).rejects.toMatchObject(
      damage,
    );
  });
});

describe('after one of them', () => {
  const forged = again(EARLIER, { payload: '"forged"' });

  it('its writer acknowledges nothing, and the shard gets no other', async () => {
    await send(forged());
    const append = writer.append(['"mine"']);
    await expect(append).rejects.toBeInstanceOf(JournalAmbiguous);
    await expect(append).rejects.toThrow(named);
    await expect(world.open()).rejects.toMatchObject({ ...damage, message: expect.stringContaining(named) });
  });

  it('its writer becomes unhealthy even without appends, and confirms nothing', async () => {
    await send(forged());
    await until(world.clock, () => !writer.health().ok);
    await expect(writer.confirm()).rejects.toThrow(named);
  });
});

describe('after an exact repeat of a record', () => {
  it.each([EPOCH, EARLIER, HEAD])('all readers and writers continue: %d', async (sequence) => {
    const all = await readers();
    await send(record(sequence), ...written.slice(EARLIER - 1));
    await writer.append(['"8"']);
    for (const reader of all) {
      expect(await reader.read(SHARD, HEAD + 1, 10)).toMatchObject([{ payload: '"8"' }]);
      expect(eventsOf(await everything(reader, SHARD))).toEqual(['"2"', '"3"', '"5"', '"6"', '"7"', '"8"']);
    }
    expect(await surveyTopic({ family: 'auction', shard: SHARD }, world.topic.open())).toMatchObject({
      late: 0,
      doubled: 4,
    });
    await world.open();
  });

  it('only nearby records are read to recognize a repeat, however long the epoch is', async () => {
    for (let batch = 0; batch < 40; batch += 1) {
      await writer.append(Array.from({ length: 100 }, (_, index) => `"${batch} ${index}"`));
    }
    const all = await everything(world.reader(), SHARD);
    const { topic } = world;
    await topic.open().append(topic.content().slice(-100), 1_000);
    let fetched = 0;
    const log = topic.open();
    const reading = new ShardLog(
      { family: 'auction', shard: SHARD },
      {
        ...log,
        fetch: async (offset, bytes) => {
          const messages = await log.fetch(offset, bytes);
          fetched += messages.length;
          return messages;
        },
      },
    );
    const head = all.at(-1)!;
    const known = { offset: all.length - 1, sequence: head.sequence, hash: head.hash };
    const run = await reading.tail(known);
    expect(run).toMatchObject({ entries: [], damage: undefined, doubled: 100 });
    expect(fetched).toBeLessThan(400);
  });

  it('a take-over for the same epoch counts as too late only if its content differs', async () => {
    await send(linkEpoch(SHARD, record(EPOCH - 1), 2, 'ben'));
    await writer.append(['"8"']);
    expect(await surveyTopic({ family: 'auction', shard: SHARD }, world.topic.open())).toMatchObject({
      late: 1,
      doubled: 0,
    });
  });
});

describe('a message of an older epoch', () => {
  const asIfNext = (epoch: number): JournalHead => ({ ...record(HEAD), epoch });
  const OLD: readonly (readonly [string, () => JournalEntry])[] = [
    ['an epoch record that claims to be the next', () => linkEpoch(SHARD, record(HEAD), 1, 'ada')],
    [
      'one of them with a wrong hash',
      () => ({ ...linkEpoch(SHARD, record(HEAD), 1, 'ada'), hash: 'ab'.repeat(32) }),
    ],
    [
      'an epoch record with a later sequence',
      () => linkEpoch(SHARD, { ...record(HEAD), sequence: HEAD + 9 }, 1, 'ada'),
    ],
    ['an earlier epoch record', () => record(1)],
    ['an event that claims to be the next', () => linkEvent(SHARD, asIfNext(1), '"late"')],
    ['an earlier event', () => ({ ...record(2), payload: '"changed"' })],
  ];

  it.each(OLD)('does not count: %s', async (_, old) => {
    const all = await readers();
    await send(old());
    await writer.append(['"8"']);
    await writer.confirm();
    for (const reader of all) {
      expect(await reader.read(SHARD, HEAD + 1, 10)).toMatchObject([{ payload: '"8"' }]);
      expect(await everything(reader, SHARD)).toHaveLength(HEAD + 1);
    }
    expect(await surveyTopic({ family: 'auction', shard: SHARD }, world.topic.open())).toMatchObject({
      late: 1,
      doubled: 0,
    });
    const successor = await world.open();
    expect(successor.head).toMatchObject({ epoch: 3, sequence: HEAD + 2 });
  });

  it('is damage if it belongs to the present epoch, which cannot begin twice', async () => {
    await send(linkEpoch(SHARD, record(HEAD), 2, 'eve'));
    await expect(everything(world.reader(), SHARD)).rejects.toBeInstanceOf(JournalCorrupt);
  });
});
