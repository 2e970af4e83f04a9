import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { eventsOf, JournalWorld, SHARD } from '#libs/testing/kafka/journal-world.js';
import type { SendFate } from '#libs/testing/kafka/memory-topic.js';
import { linkEpoch } from '../hash-chain.js';
import { inKafka, WrongBackend } from '../backend/journal-backend.js';
import type { JournalWriter } from '../journal.js';
import {
  JournalAmbiguous,
  JournalCorrupt,
  JournalFenced,
  JournalUnavailable,
  JournalUnreadable,
} from '../journal-errors.js';
import { KafkaJournal } from './kafka-journal.js';
import { KafkaJournalReader } from './kafka-reader.js';
import { encodeRecord } from './record-format.js';

/** The number of attempts before a writer gives up. */
const LOST = Array<SendFate>(9).fill('lost before');

let world: JournalWorld;

beforeEach(() => {
  world = new JournalWorld();
});

afterEach(() => world.close());

async function payloads(): Promise<string[]> {
  return eventsOf(await everything(world.reader(), SHARD));
}

async function twoSeconds(): Promise<void> {
  const since = world.clock.monotonicNanos();
  while (world.clock.monotonicNanos() - since < 2_000_000_000n) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('a writer', () => {
  it('continues despite late records of an older epoch', async () => {
    const old = await world.open();
    world.topic.expect('late', ...LOST);
    await expect(old.append(['"lost"'])).rejects.toBeInstanceOf(JournalAmbiguous);
    world.topic.calm();
    const successor = await world.open();
    await successor.append(['"a"']);
    world.topic.release();
    expect((await successor.append(['"b"'])).firstSequence).toBe(4);
    expect(await payloads()).toEqual(['"a"', '"b"']);
  });

  it('is fenced by an epoch that began while it was paused, and its later records do not count', async () => {
    const old = await world.open();
    await world.open();
    await expect(old.append(['"too late"'])).rejects.toBeInstanceOf(JournalFenced);
    expect(await payloads()).toEqual([]);
  });

  it('finds its batch in the topic after a lost reply, and continues', async () => {
    const writer = await world.open();
    world.topic.expect('lost behind');
    expect((await writer.append(['"a"', '"b"'])).firstSequence).toBe(2);
    expect((await writer.append(['"c"'])).firstSequence).toBe(4);
    expect(world.topic.length).toBe(4);
  });

  it('resends a refused batch, and gives up if the brokers keep refusing', async () => {
    const writer = await world.open();
    world.topic.expect('refused', 'refused');
    await writer.append(['"a"']);
    world.topic.expect(...Array<'refused'>(10).fill('refused'));
    await expect(writer.append(['"b"'])).rejects.toBeInstanceOf(JournalUnavailable);
    expect(await payloads()).toEqual(['"a"']);
  });

  it('reports how long it has tried, and not the time left for the last attempt', async () => {
    const writer = await world.open();
    world.topic.expect(...Array<SendFate>(10).fill('without a leader'));
    await expect(writer.append(['"a"'])).rejects.toThrow(
      /nothing could be appended for 300 ms: no answer within 300 ms$/,
    );
  });

  it('resends a batch that did not arrive; if the first copy arrives after all, only one counts', async () => {
    const writer = await world.open();
    world.topic.expect('late');
    expect((await writer.append(['"a"', '"b"'])).firstSequence).toBe(2);
    await writer.append(['"c"']);
    world.topic.release();
    expect((await writer.append(['"d"'])).firstSequence).toBe(5);
    expect(world.topic.length).toBe(7);
    expect(await payloads()).toEqual(['"a"', '"b"', '"c"', '"d"']);
  });

  it('takes the first copy as its batch if both arrived before it could check', async () => {
    const writer = await world.open();
    world.topic.expect('late', 'answered');
    world.topic.expectLooks('behind', 'right');
    const append = writer.append(['"a"']);
    await new Promise((resolve) => setImmediate(resolve));
    world.topic.release();
    expect((await append).firstSequence).toBe(2);
    expect((await writer.append(['"b"'])).firstSequence).toBe(3);
    expect(await payloads()).toEqual(['"a"', '"b"']);
  });

  it('reports an unknown outcome if its batch is found with an epoch after it', async () => {
    const old = await world.open();
    world.topic.expect('lost behind');
    world.topic.delay(0, 40);
    const append = old.append(['"found"']);
    const outcome = expect(append).rejects.toBeInstanceOf(JournalAmbiguous);
    await new Promise((resolve) => setImmediate(resolve));
    await world.open();
    await outcome;
    expect(await payloads()).toEqual(['"found"']);
  });

  it('is one of two that open at the same moment under the same name', async () => {
    const [one, other] = await Promise.all([world.open(), world.open()]);
    const outcomes = await Promise.allSettled([one.append(['"one"']), other.append(['"other"'])]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('yields to an opener that it outran, so that a busy writer can be deposed', async () => {
    const busy = await world.open();
    const { head } = busy;
    await busy.append(['"quicker"']);
    await world.topic.open().append([encodeRecord(linkEpoch(SHARD, head, 2, 'late'), undefined)], 1_000);
    expect((await busy.append(['"written"'])).firstSequence).toBe(3);
    await expect(busy.append(['"not sent"'])).rejects.toBeInstanceOf(JournalFenced);
    expect(await payloads()).toEqual(['"quicker"', '"written"']);
  });

  it('does not confirm the shard once another epoch has begun', async () => {
    const old = await world.open();
    await old.append(['"a"']);
    await old.confirm();
    const successor = await world.open();
    await expect(old.confirm()).rejects.toBeInstanceOf(JournalFenced);
    await successor.confirm();
  });

  it('notices while idle that it is deposed', async () => {
    const old = await world.open();
    await world.open();
    while (old.health().ok) await new Promise((resolve) => setImmediate(resolve));
  });

  it('notices a recreated topic of the same length', async () => {
    const other = new JournalWorld();
    const stranger = await other.open();
    await stranger.append(Array.from({ length: 9 }, (_, index) => `"${index}"`));
    await world.open();
    const writer = await world.open();
    await writer.append(['"a"']);
    world.topic.replace(other.topic.content());
    await expect(writer.append(['"b"'])).rejects.toBeInstanceOf(JournalAmbiguous);
    await other.close();
  });

  it('checks that its last record is still there, after a quiet while, before it acknowledges the next', async () => {
    const other = new JournalWorld();
    await (await other.open()).append(['"x"', '"y"']);
    const writer = await world.open();
    await writer.append(['"a"', '"b"']);
    world.topic.expectLooks(...Array<'broken'>(50).fill('broken'));
    await twoSeconds();
    await writer.append(['"c"']);
    await twoSeconds();
    world.topic.replace([...other.topic.content(), Buffer.from('another one')]);
    await expect(writer.append(['"d"'])).rejects.toBeInstanceOf(JournalAmbiguous);
    expect(writer.health().ok).toBe(false);
    await other.close();
  });

  it.each([
    ['is as long', 3],
    ['is shorter', 2],
    ['is empty', 0],
  ])('does not confirm the shard if another topic %s', async (_, length) => {
    const other = new JournalWorld();
    await (await other.open()).append(['"x"', '"y"']);
    const writer = await world.open();
    await writer.append(['"a"', '"b"']);
    world.topic.replace(other.topic.content().slice(0, length));
    await expect(writer.confirm()).rejects.toThrow('its topic');
    while (writer.health().ok) await new Promise((resolve) => setImmediate(resolve));
    await other.close();
  });
});

describe('an owner whose journals are moved while it opens its shard', () => {
  const writers: JournalWriter[] = [];
  afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.close())));
  /** The journals count as being here for so many checks, and as moved after that. */
  const openWhileHere = async (questions: number): Promise<JournalWriter> => {
    let asked = 0;
    const writer = await new KafkaJournal({
      family: 'auction',
      openLog: () => Promise.resolve(world.topic.open()),
      clock: world.clock,
      opener: 'asleep',
      stillHere: () => {
        asked += 1;
        return asked > questions ? Promise.reject(inKafka('there.')) : Promise.resolve();
      },
    }).open(SHARD);
    writers.push(writer);
    return writer;
  };
  const epochs = async (): Promise<number> =>
    (await everything(world.reader(), SHARD)).filter(({ kind }) => kind === 'epoch').length;

  it('checks again before it retries after the epoch of the mover', async () => {
    const { head } = await world.open();
    world.topic.expect('late');
    const opening = openWhileHere(1).catch((error: unknown) => error);
    while (!world.topic.isHolding) await new Promise((resolve) => setImmediate(resolve));
    await world.topic.open().append([encodeRecord(linkEpoch(SHARD, head, 2, 'mover'), undefined)], 1_000);
    world.topic.release();
    expect(await opening).toBeInstanceOf(WrongBackend);
    expect(await epochs()).toBe(2);
  });

  it('checks once more after its own epoch, before a caller gets the writer', async () => {
    await world.open();
    await expect(openWhileHere(1)).rejects.toMatchObject({ exitCode: EXIT.config });
    await openWhileHere(2);
  });
});

describe('an epoch that no owner can have begun', () => {
  const take = async (epoch: number): Promise<void> => {
    const { head } = await world.open();
    const record = encodeRecord(linkEpoch(SHARD, head, epoch, 'eve'), undefined);
    await world.topic.open().append([record], 1_000);
  };

  it('is damage, and nothing is written after it', async () => {
    await take(2_147_483_648);
    const { length } = world.topic;
    await expect(payloads()).rejects.toThrow('epoch 2147483648 is more than any owner can have begun');
    await expect(world.open()).rejects.toBeInstanceOf(JournalCorrupt);
    expect(world.topic.length).toBe(length);
  });

  it('of the highest number ends the shard: it cannot be opened any more', async () => {
    await take(2_147_483_647);
    const { length } = world.topic;
    await expect(world.open()).rejects.toThrow('no epoch can begin after epoch 2147483647');
    expect(world.topic.length).toBe(length);
  });
});

describe('a reader', () => {
  it('resumes several reads of old records where they stopped, whatever was fetched with them', async () => {
    const writer = await world.open();
    const written = Array.from({ length: 100 }, (_, index) => `"${index}"`);
    await writer.append(written);
    const reader = world.reader();
    const [slow, fast]: [string[], string[]] = [[], []];
    // The page sizes do not divide what the topic returns at once.
    for (let from = 1; from <= 61; from += 5) slow.push(...eventsOf(await reader.read(SHARD, from, 5)));
    for (let from = 1; from <= 61; from += 3) fast.push(...eventsOf(await reader.read(SHARD, from, 3)));
    for (const read of [slow, fast]) expect(read).toEqual(written.slice(0, read.length));
  });

  it('finds every record, also if foreign messages shift those of its writer', async () => {
    const old = await world.open();
    world.topic.expect('late', ...LOST);
    await expect(old.append(['"x"', '"y"', '"z"'])).rejects.toBeInstanceOf(JournalAmbiguous);
    world.topic.calm();
    const successor = await world.open();
    for (const turn of ['a', 'b', 'c']) await successor.append([`"${turn}1"`, `"${turn}2"`]);
    world.topic.release();
    for (const turn of ['d', 'e', 'f']) await successor.append([`"${turn}1"`, `"${turn}2"`, `"${turn}3"`]);
    const all = await everything(world.reader(), SHARD);
    expect(all).toHaveLength(17);
    for (const entry of all) expect(await world.reader().entries(SHARD, [entry.sequence])).toEqual([entry]);
  });

  it('treats a message with an offset past the end as damage, and does not wait for it', async () => {
    await (await world.open()).append(['"a"', '"b"']);
    const log = world.topic.open();
    const reader = new KafkaJournalReader({
      family: 'auction',
      openLog: () => ({
        append: (...sent) => log.append(...sent),
        end: () => log.end(),
        close: () => log.close(),
        fetch: async (from, bytes) => {
          const found = await log.fetch(from, bytes);
          return found.map((one) => (one.offset === 1 ? { ...one, offset: 16_777_217 } : one));
        },
      }),
      shards: [SHARD],
    });
    await expect(everything(reader, SHARD)).rejects.toThrow('offset 1 of its topic is gone');
    await reader.close();
  });

  it('sees all acknowledged records, also if another read is in flight', async () => {
    const writer = await world.open();
    const reader = world.reader();
    await reader.heads();
    await writer.append(['"a"']);
    // The first call already has its reply; the second call knows of a record that is not in it.
    world.topic.delay(0, 20);
    const first = reader.heads();
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await writer.append(['"b"']);
    expect(await reader.read(SHARD, 3, 10)).toHaveLength(1);
    await first;
  });

  it('does not take the end that a stale broker reports for the end', async () => {
    const writer = await world.open();
    await writer.append(['"a"', '"b"', '"c"', '"d"']);
    const reader = world.reader();
    await reader.heads();
    world.topic.expectLooks('behind');
    await expect(reader.heads()).rejects.toBeInstanceOf(JournalUnreadable);
    expect((await reader.heads()).get(SHARD)).toBe(5);
  });

  it('notices a recreated topic, even if it holds only older epochs', async () => {
    const other = new JournalWorld();
    const stranger = await other.open();
    await stranger.append(Array.from({ length: 9 }, (_, index) => `"${index}"`));
    await world.open();
    await world.open();
    const reader = world.reader();
    await reader.heads();
    world.topic.replace(other.topic.content());
    await expect(reader.heads()).rejects.toBeInstanceOf(JournalUnreadable);
    await other.close();
  });

  it('opens a shard quickly, however often it was opened without writing', async () => {
    const writer = await world.open();
    await writer.append(Array.from({ length: 200 }, (_, index) => `"${index}"`));
    for (let opened = 0; opened < 60; opened += 1) await world.open();
    let fetched = 0;
    const log = world.topic.open();
    const { ShardLog } = await import('./shard-log.js');
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
    expect((await reading.tail()).position.head.sequence).toBe(261);
    expect(fetched).toBeLessThan(261 + 150);
  });
});
