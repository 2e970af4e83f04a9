import { afterEach, describe, expect, it } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { HastyClock } from '#libs/testing/kafka/hasty-clock.js';
import { MemoryTopic } from '#libs/testing/kafka/memory-topic.js';
import { linkEpoch, linkEvent } from '../hash-chain.js';
import type { JournalEntry, JournalHead, JournalWriter } from '../journal.js';
import { JournalAmbiguous, JournalFenced, JournalUnavailable } from '../journal-errors.js';
import { RecordMacs } from '../seals/record-macs.js';
import { JournalUnsealed } from '../seals/sealed-end.js';
import { KafkaJournal } from './kafka-journal.js';
import { KafkaJournalReader } from './kafka-reader.js';
import { encodeRecord } from './record-format.js';

const SHARD = 0;
const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

const writers: JournalWriter[] = [];

afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.close())));

/** A topic that has MACs from its first record on, and all its writers. */
class World {
  readonly topic = new MemoryTopic();
  /** The reply of the database, asked between reading the end and writing the next record. */
  sealedFrom = (): Promise<number | undefined> => Promise.resolve(1);

  async open(...keys: readonly [Buffer, ...Buffer[]]): Promise<JournalWriter> {
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: () => Promise.resolve(this.topic.open()),
      clock: new HastyClock(),
      opener: 'ada',
      sealing: { seals: new RecordMacs('auction', keys), sealedFrom: () => this.sealedFrom() },
      openWithinMillis: 500,
    });
    const writer = await journal.open(SHARD);
    writers.push(writer);
    return writer;
  }

  async forge(entry: JournalEntry, seal?: Buffer): Promise<void> {
    const seals = seal === undefined ? new Map<number, Buffer>() : new Map([[0, seal]]);
    await this.topic.open().append([encodeRecord(entry, undefined)], 1_000, seals);
  }

  async found(): Promise<JournalEntry[]> {
    const reader = new KafkaJournalReader({
      family: 'auction',
      openLog: () => this.topic.open(),
      shards: [SHARD],
    });
    return await everything(reader, SHARD);
  }
}

async function begun(): Promise<{ world: World; writer: JournalWriter; head: JournalHead }> {
  const world = new World();
  const first = world.sealedFrom;
  world.sealedFrom = () => Promise.resolve(undefined);
  const writer = await world.open(OLD);
  world.sealedFrom = first;
  await writer.append(['"a"', '"b"']);
  return { world, writer, head: writer.head };
}

describe('a writer with a key', () => {
  it('adds a MAC to the last message of each append and to each epoch record', async () => {
    const { world, writer } = await begun();
    await writer.append(['"c"']);
    await world.open(OLD);
    const found = await world.found();
    expect(found.map(({ seal }) => seal !== undefined)).toEqual([true, false, true, true, true]);
    const seals = new RecordMacs('auction', [OLD]);
    for (const entry of found)
      if (entry.seal !== undefined) expect(seals.isGood(entry, entry.seal)).toBe(true);
  });

  it('sends the same MAC again after a lost reply', async () => {
    const { world, writer } = await begun();
    world.topic.expect('lost before', 'lost behind');
    await writer.append(['"c"', '"d"']);
    await world.open(OLD);
    expect((await world.found()).slice(3, 5).map(({ seal }) => seal !== undefined)).toEqual([false, true]);
  });
});

describe('a take-over', () => {
  it.each<[string, (head: JournalHead) => [JournalEntry, Buffer?]]>([
    ['an event without a MAC', (head) => [linkEvent(SHARD, head, '"forged"')]],
    ['a take-over without a MAC', (head) => [linkEpoch(SHARD, head, 2, 'eve')]],
    ['an event with an invented MAC', (head) => [linkEvent(SHARD, head, '"forged"'), Buffer.alloc(32)]],
    [
      'an event with the MAC of the record before',
      (head) => [
        linkEvent(SHARD, head, '"forged"'),
        new RecordMacs('auction', [OLD]).sealOf({ shard: SHARD, ...head }),
      ],
    ],
  ])('writes nothing after %s', async (_, forged) => {
    const { world, writer, head } = await begun();
    await writer.close();
    await world.forge(...forged(head));
    await expect(world.open(OLD)).rejects.toBeInstanceOf(JournalUnsealed);
    expect(world.topic.length).toBe(4);
  });

  it('finds a record between the end that it read and its own record', async () => {
    const { world, writer, head } = await begun();
    await writer.close();
    let isFirst = true;
    world.sealedFrom = async () => {
      if (isFirst) await world.forge(linkEvent(SHARD, head, '"forged"'));
      isFirst = false;
      return 1;
    };
    await expect(world.open(OLD)).rejects.toThrow('its journal ends with record 4, which has no seal');
    // Its own record came too late and does not count.
    expect([world.topic.length, (await world.found()).length]).toEqual([5, 4]);
  });

  it('continues after messages that do not count, whatever their source', async () => {
    const { world, writer, head } = await begun();
    await world.open(OLD);
    await writer.close();
    await world.forge(linkEvent(SHARD, head, '"too late"'));
    expect((await world.open(OLD)).head.sequence).toBe(5);
  });

  it('trusts a topic without a row once', async () => {
    const { world, writer, head } = await begun();
    await writer.close();
    await world.forge(linkEvent(SHARD, head, '"of before"'));
    world.sealedFrom = () => Promise.resolve(undefined);
    expect((await world.open(OLD)).head.sequence).toBe(5);
  });

  it('reads the end again if another process has added MACs since, and refuses an end before the first MAC', async () => {
    const { world, writer } = await begun();
    await writer.close();
    world.sealedFrom = () => Promise.resolve(9);
    const failure = await world.open(OLD).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JournalUnavailable);
    expect(failure).toMatchObject({ message: expect.stringContaining('known to be sealed') });
    expect(world.topic.length).toBe(3);
  });

  it('fails after a record with a wrong hash as for damage, and names the first record that no owner wrote', async () => {
    const { world, writer, head } = await begun();
    await writer.close();
    await world.forge({ ...linkEvent(SHARD, head, '"forged"'), hash: 'ab'.repeat(32) });
    const attempt = world.open(OLD);
    await expect(attempt).rejects.toBeInstanceOf(JournalUnsealed);
    await expect(attempt).rejects.toMatchObject({
      exitCode: EXIT.damaged,
      message: expect.stringMatching(/corrupt at sequence 4: its hash.* have written is 3\. .* remove them/),
    });
    expect(world.topic.length).toBe(4);
  });

  it('accepts the MACs of all its keys', async () => {
    const { world } = await begun();
    await expect(world.open(NEW)).rejects.toThrow('if a key was removed from ID_KEY, put it back');
    await world.open(NEW, OLD);
    expect((await world.open(NEW)).head.sequence).toBe(5);
  });
});

describe('a writer whose position was taken by a forged record', () => {
  it.each([1, 3])('acknowledges nothing of an append of %d, and has no successor', async (records) => {
    const { world, writer, head } = await begun();
    await world.forge(linkEvent(SHARD, head, '"forged"'));
    const payloads = Array.from({ length: records }, () => '"mine"');
    await expect(writer.append(payloads)).rejects.toBeInstanceOf(JournalAmbiguous);
    expect(writer.health()).toMatchObject({ ok: false });
    await expect(world.open(OLD)).rejects.toThrow(records === 1 ? JournalUnsealed : 'is corrupt');
  });

  it('notices a forged take-over', async () => {
    const { world, writer, head } = await begun();
    await world.forge(linkEpoch(SHARD, head, 2, 'eve'));
    await expect(writer.append(['"mine"'])).rejects.toBeInstanceOf(JournalFenced);
    await expect(world.open(OLD)).rejects.toBeInstanceOf(JournalUnsealed);
  });
});
