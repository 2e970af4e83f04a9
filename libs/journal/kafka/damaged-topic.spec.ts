import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '#libs/testing/contracts/journal-subject.js';
import { eventsOf, JournalWorld, SHARD } from '#libs/testing/kafka/journal-world.js';
import { linkEpoch } from '../hash-chain.js';
import { JournalAmbiguous, JournalCorrupt } from '../journal-errors.js';
import { encodeRecord } from './record-format.js';
import { KafkaJournalReader } from './kafka-reader.js';
import { surveyTopic } from './topic-survey.js';

const EVENTS = 40;
/** Offsets count from 0, and sequences from 1. */
const FIRST = 20;
const DAMAGED = FIRST + 1;

let world: JournalWorld;

beforeEach(async () => {
  world = new JournalWorld();
  const writer = await world.open();
  for (let written = 0; written < EVENTS; written += 1) await writer.append([`"${written}"`]);
  await writer.close();
});
afterEach(() => world.close());

function damageAt(sequence: number): object {
  return {
    name: 'JournalCorrupt',
    shard: SHARD,
    sequence,
    exitCode: 65,
    message: expect.stringMatching(
      `^journal of shard 0 is corrupt at sequence ${sequence}: .* cannot be read`,
    ),
  };
}

describe('a topic whose leader returns nothing from some offset on, before its end', () => {
  it.each([
    ['just before its end', EVENTS],
    ['where its end is searched', EVENTS - 8],
    ['long before', FIRST],
  ])('is damaged after the last readable record: %s', async (_, offset) => {
    world.topic.damage(offset);
    const reader = world.reader();
    expect(await reader.heads()).toEqual(new Map([[SHARD, offset + 1]]));
    await expect(reader.read(SHARD, 1, 100)).rejects.toMatchObject(damageAt(offset + 1));
    expect(await reader.read(SHARD, 1, offset)).toHaveLength(offset);
    await expect(world.open()).rejects.toMatchObject(damageAt(offset + 1));
    const log = world.topic.open();
    await expect(surveyTopic({ family: 'auction', shard: SHARD }, log)).rejects.toMatchObject(
      damageAt(offset + 1),
    );
  });

  it('withholds only the records after the damage', async () => {
    const reader = world.reader();
    expect(await reader.heads()).toEqual(new Map([[SHARD, EVENTS + 1]]));
    world.topic.damage(FIRST);
    const fresh = world.reader();
    expect(eventsOf(await fresh.read(SHARD, 1, FIRST))).toHaveLength(FIRST - 1);
    await expect(fresh.entries(SHARD, [DAMAGED])).rejects.toBeInstanceOf(JournalCorrupt);
    await expect(fresh.entries(SHARD, [EVENTS])).rejects.toBeInstanceOf(JournalCorrupt);
  });

  it('does not affect other shards', async () => {
    const other = new JournalWorld();
    await (await other.open()).append(['"a"']);
    world.topic.damage(FIRST);
    const topics = [world.topic, other.topic];
    const reader = new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => topics[shard]!.open(),
      shards: [0, 1],
    });
    expect(await reader.heads()).toEqual(
      new Map([
        [0, DAMAGED],
        [1, 2],
      ]),
    );
    await other.close();
  });

  it('reports damage if the database has seen a record there', async () => {
    const [known] = await world.reader().read(SHARD, EVENTS, 1);
    const place = { offset: EVENTS - 1, sequence: EVENTS, hash: known!.hash };
    expect(await world.reader().begin(SHARD, place)).toBe('known');
    world.topic.damage(FIRST);
    await expect(world.reader().begin(SHARD, place)).rejects.toMatchObject(damageAt(EVENTS));
  });

  it('is not taken for another topic if the record that was seen there is lost', async () => {
    const [known] = await world.reader().read(SHARD, EVENTS + 1, 1);
    const follows = world.reader();
    await follows.heads();
    world.topic.blank(EVENTS);
    const damaged = { name: 'JournalCorrupt', sequence: EVENTS + 1, exitCode: 65 };
    const place = { offset: EVENTS, sequence: EVENTS + 1, hash: known!.hash };
    await expect(world.reader().begin(SHARD, place)).rejects.toMatchObject(damaged);
    for (let look = 0; look < 20; look += 1) await follows.heads();
    expect(await follows.heads()).toEqual(new Map([[SHARD, EVENTS + 2]]));
    await expect(follows.read(SHARD, EVENTS + 2, 1)).rejects.toMatchObject({
      name: 'JournalCorrupt',
      sequence: EVENTS + 2,
    });
  });

  it('ends its writer, which learns the reason', async () => {
    const writer = await world.open();
    world.topic.damage(EVENTS + 2);
    world.topic.expect('lost behind');
    const append = writer.append(['"more"']);
    await expect(append).rejects.toBeInstanceOf(JournalAmbiguous);
    await expect(append).rejects.toThrow('is corrupt at sequence 43: offset 42 of its topic cannot be read');
  });
});

it('a topic with a foreign epoch that none can follow counts as damaged for any opener', async () => {
  const [head] = await world.reader().read(SHARD, EVENTS + 1, 1);
  const foreign = encodeRecord(linkEpoch(SHARD, head!, 2 ** 31, 'another'), undefined);
  await world.topic.open().append([foreign], 1_000);
  await expect(world.open()).rejects.toMatchObject({
    exitCode: 65,
    message:
      'journal of shard 0 is corrupt at sequence 42: epoch 2147483648 is more than any owner can have begun',
  });
});

describe('a topic whose first messages are deleted', () => {
  const GONE = 'its first 5 messages are gone: its topic begins at offset 5';
  const QUIET_LOOKS = 20;

  it('has a writer that acknowledges nothing more, however much is appended', async () => {
    const writer = await world.open();
    await writer.append(['"before"']);
    world.topic.deleteBefore(5);
    const append = writer.append(['"behind"']);
    await expect(append).rejects.toBeInstanceOf(JournalAmbiguous);
    await expect(append).rejects.toThrow(GONE);
    await expect(writer.append(['"more"'])).rejects.toThrow('the writer has ended');
    expect(writer.health()).toEqual({ ok: false, reason: expect.stringContaining(GONE) });
  });

  it('ends a writer that has nothing to write', async () => {
    const writer = await world.open();
    world.topic.deleteBefore(5);
    await until(world.clock, () => !writer.health().ok);
    expect(writer.health()).toMatchObject({ reason: expect.stringContaining(GONE) });
  });

  it('cannot be taken over', async () => {
    world.topic.deleteBefore(5);
    await expect(world.open()).rejects.toMatchObject({
      exitCode: 65,
      message: expect.stringContaining(GONE),
    });
  });

  it('is damaged for later reads, and does not block a request for the heads of all shards', async () => {
    const reader = world.reader();
    await reader.heads();
    world.topic.deleteBefore(5);
    for (let look = 0; look < QUIET_LOOKS; look += 1) await reader.heads();
    expect(await reader.heads()).toEqual(new Map([[SHARD, EVENTS + 2]]));
    const damaged = { name: 'JournalCorrupt', exitCode: 65, message: expect.stringContaining(GONE) };
    await expect(reader.read(SHARD, EVENTS + 2, 1)).rejects.toMatchObject(damaged);
    world.topic.deleteBefore(0);
    expect(await reader.heads()).toEqual(new Map([[SHARD, EVENTS + 1]]));
    expect(await reader.read(SHARD, EVENTS + 2, 1)).toEqual([]);
  });
});
