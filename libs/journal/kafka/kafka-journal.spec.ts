import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SystemClock } from '#libs/platform/system-clock.js';
import { MemoryTopic, type SendFate } from '#libs/testing/kafka/memory-topic.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import type { JournalWriter } from '../journal.js';
import { JournalAmbiguous, JournalFailure, JournalFenced } from '../journal-errors.js';
import { KafkaJournal } from './kafka-journal.js';
import { KafkaJournalReader } from './kafka-reader.js';

const SHARD = 0;

/** Several processes over one topic; what they are told is held against what a reader finds. */
class World {
  readonly topic = new MemoryTopic();
  private readonly writers: JournalWriter[] = [];
  private readonly told = { written: [] as string[], denied: [] as string[], doubtful: [] as string[] };
  private count = 0;

  reader(): KafkaJournalReader {
    return new KafkaJournalReader({
      openLog: () => this.topic.open(),
      shards: () => Promise.resolve([SHARD]),
    });
  }

  async open(settleWithinMillis = 5): Promise<JournalWriter> {
    const journal = new KafkaJournal({
      openLog: () => Promise.resolve(this.topic.open()),
      clock: new SystemClock(),
      // All of one name: nothing may rest on it.
      opener: 'owner-0',
      settleWithinMillis,
    });
    const writer = await journal.open(SHARD);
    this.writers.push(writer);
    return writer;
  }

  async append(which: number, records: number): Promise<void> {
    const writer = this.writers[which % this.writers.length];
    if (writer === undefined) return;
    const payloads = Array.from({ length: records }, () => `"${(this.count += 1)}"`);
    try {
      await writer.append(payloads);
      this.told.written.push(...payloads);
    } catch (error) {
      if (!(error instanceof JournalFailure)) throw error;
      const isDoubtful = error instanceof JournalAmbiguous;
      (isDoubtful ? this.told.doubtful : this.told.denied).push(...payloads);
    }
  }

  /** Nothing acknowledged is missing or out of order, nothing denied is there, and every reader sees the same chain. */
  async check(): Promise<void> {
    this.topic.release();
    const found = await everything(this.reader(), SHARD);
    const payloads = found.filter(({ kind }) => kind === 'event').map(({ payload }) => payload);
    expect(new Set(payloads).size).toBe(payloads.length);
    const known = new Set([...this.told.written, ...this.told.doubtful]);
    expect(payloads.filter((payload) => !known.has(payload))).toEqual([]);
    const written = new Set(this.told.written);
    expect(payloads.filter((payload) => written.has(payload))).toEqual(this.told.written);
    const page = this.reader();
    for (const entry of found) expect(await page.entries(SHARD, [entry.sequence])).toEqual([entry]);
    expect((await page.heads()).get(SHARD)).toBe(found.length);
  }

  async close(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.close()));
  }
}

describe('a writer', () => {
  it('goes on over what an older epoch still writes', async () => {
    const world = new World();
    const old = await world.open();
    world.topic.expect('late');
    await expect(old.append(['"lost"'])).rejects.toBeInstanceOf(JournalAmbiguous);
    const heir = await world.open();
    await heir.append(['"a"']);
    world.topic.release();
    expect((await heir.append(['"b"'])).firstSequence).toBe(4);
    const stored = await everything(world.reader(), SHARD);
    expect(stored.map(({ payload }) => payload).slice(2)).toEqual(['"a"', '"b"']);
    await world.close();
  });

  it('is fenced by an epoch that began while it was paused, and what it wrote behind is nowhere', async () => {
    const world = new World();
    const old = await world.open();
    await world.open();
    await expect(old.append(['"too late"'])).rejects.toBeInstanceOf(JournalFenced);
    expect(await everything(world.reader(), SHARD)).toHaveLength(2);
    await world.close();
  });

  it('finds its batch in the topic when the answer was lost, and goes on', async () => {
    const world = new World();
    const writer = await world.open();
    world.topic.expect('lost behind');
    expect((await writer.append(['"a"', '"b"'])).firstSequence).toBe(2);
    expect((await writer.append(['"c"'])).firstSequence).toBe(4);
    await world.close();
  });

  it('sends anew only what the broker has refused', async () => {
    const world = new World();
    const writer = await world.open();
    world.topic.expect('refused', 'refused');
    await writer.append(['"a"']);
    expect(await everything(world.reader(), SHARD)).toHaveLength(2);
    await world.close();
  });

  it('says that it does not know when its batch is found, and an epoch behind it', async () => {
    const world = new World();
    const old = await world.open(1_000);
    world.topic.expect('late');
    const append = old.append(['"found"']);
    const outcome = expect(append).rejects.toBeInstanceOf(JournalAmbiguous);
    await new Promise((resolve) => setImmediate(resolve));
    world.topic.release();
    await world.open();
    await outcome;
    await world.close();
  });

  it('is one of two that open at the same moment under the same name', async () => {
    const world = new World();
    const [one, other] = await Promise.all([world.open(), world.open()]);
    const outcomes = await Promise.allSettled([one?.append(['"one"']), other?.append(['"other"'])]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await world.close();
  });

  it('leaves every record to be found, also where messages of others displace its own', async () => {
    const world = new World();
    const old = await world.open();
    world.topic.expect('late');
    await expect(old.append(['"x"', '"y"', '"z"'])).rejects.toBeInstanceOf(JournalAmbiguous);
    const heir = await world.open();
    for (const turn of ['a', 'b', 'c']) await heir.append([`"${turn}1"`, `"${turn}2"`]);
    world.topic.release();
    for (const turn of ['d', 'e', 'f']) await heir.append([`"${turn}1"`, `"${turn}2"`, `"${turn}3"`]);
    const all = await everything(world.reader(), SHARD);
    expect(all).toHaveLength(17);
    for (const entry of all) expect(await world.reader().entries(SHARD, [entry.sequence])).toEqual([entry]);
    await world.close();
  });

  it('learns while it is idle that it is deposed', async () => {
    const world = new World();
    const old = await world.open();
    await world.open();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(old.health().ok).toBe(false);
    await world.close();
  });
});

const step = fc.oneof(
  fc.record({ does: fc.constant('open' as const) }),
  fc.record({ does: fc.constant('open both' as const) }),
  fc.record({
    does: fc.constant('append' as const),
    which: fc.nat(5),
    records: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ does: fc.constant('together' as const), first: fc.nat(5), second: fc.nat(5) }),
  fc.record({ does: fc.constant('release' as const) }),
);
const fate = fc.constantFrom<SendFate>(
  'answered',
  'answered',
  'answered',
  'refused',
  'lost before',
  'lost behind',
  'late',
);

it('tells every caller the truth, whatever becomes of the sends of several writers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 14 }),
      fc.array(fate, { maxLength: 16 }),
      async (steps, fates) => {
        const world = new World();
        await world.open();
        world.topic.expect(...fates);
        for (const each of steps) {
          if (each.does === 'open') await world.open();
          else if (each.does === 'open both') await Promise.all([world.open(), world.open()]);
          else if (each.does === 'append') await world.append(each.which, each.records);
          else if (each.does === 'release') world.topic.release();
          else await Promise.all([world.append(each.first, 1), world.append(each.second, 2)]);
        }
        await world.check();
        await world.close();
      },
    ),
    { numRuns: 60 },
  );
});
