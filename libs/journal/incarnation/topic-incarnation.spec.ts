import { afterEach, describe, expect, it } from '@jest/globals';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { HastyClock } from '#libs/testing/kafka/hasty-clock.js';
import { MemoryTopic } from '#libs/testing/kafka/memory-topic.js';
import { beforeFirst, linkEpoch, linkEvent } from '../hash-chain.js';
import type { EpochIncarnation, JournalHead, JournalWriter } from '../journal.js';
import { JournalFenced } from '../journal-errors.js';
import { KafkaJournal } from '../kafka/kafka-journal.js';
import { KafkaJournalReader } from '../kafka/kafka-reader.js';
import { encodeRecord } from '../kafka/record-format.js';
import { incarnationIn, incarnationAfter, OtherDatabase } from './topic-incarnation.js';

const SHARD = 0;
const [LOST, FOUND] = ['lost', 'found'];

const writers: JournalWriter[] = [];

afterEach(() => Promise.all(writers.splice(0).map((writer) => writer.close())));

/** A topic, and the owners of two databases that both claim it. */
class World {
  readonly topic = new MemoryTopic();
  /** What the database of an incarnation knows. */
  known = new Map<string, () => JournalHead | undefined>();

  async open(life?: string): Promise<JournalWriter> {
    const known = () => {
      const head = this.known.get(life ?? '')?.();
      return Promise.resolve(head === undefined ? [] : [head]);
    };
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: () => Promise.resolve(this.topic.open()),
      clock: new HastyClock(),
      opener: 'ada',
      ...(life === undefined ? {} : { lineage: { life, known } }),
      openWithinMillis: 500,
    });
    const writer = await journal.open(SHARD);
    writers.push(writer);
    return writer;
  }

  async incarnations(): Promise<EpochIncarnation[]> {
    const reader = new KafkaJournalReader({
      family: 'auction',
      openLog: () => this.topic.open(),
      shards: [SHARD],
    });
    const found = await everything(reader, SHARD);
    return found.filter(({ kind }) => kind === 'epoch').map(({ payload }) => incarnationIn(payload));
  }
}

describe('the owners of a database', () => {
  it('continue their own incarnation, and epochs of PostgreSQL that name none', async () => {
    const world = new World();
    await (await world.open()).append(['"a"']);
    await (await world.open(LOST)).append(['"b"']);
    await world.open(LOST);
    expect(await world.incarnations()).toEqual([{}, { life: LOST }, { life: LOST }]);
  });

  it('continue another incarnation only if they have all its records, and record that', async () => {
    const world = new World();
    const former = await world.open(LOST);
    await former.append(['"a"', '"b"']);
    const knownHead = former.head;
    world.known.set(FOUND, () => knownHead);
    await world.open(FOUND);
    expect(await world.incarnations()).toEqual([{ life: LOST }, { life: FOUND, follows: LOST }]);
    await world.open(FOUND);
    expect(await world.incarnations()).toHaveLength(3);
  });

  it('are refused if another incarnation has written since, and a replaced incarnation is refused for good', async () => {
    const world = new World();
    const former = await world.open(LOST);
    const knownHead = former.head;
    world.known.set(FOUND, () => knownHead).set(LOST, () => former.head);
    await former.append(['"a"']);
    await expect(world.open(FOUND)).rejects.toMatchObject({
      exitCode: EXIT.damaged,
      message: expect.stringMatching(
        /goes on to record 2, .*\(life lost\).*\(life found\).* complete only up to record 1/,
      ),
    });
    world.known.set(FOUND, () => former.head);
    const writer = await world.open(FOUND);
    // A running owner is fenced as by any other owner, and does not come back.
    await expect(former.append(['"b"'])).rejects.toBeInstanceOf(JournalFenced);
    await writer.append(['"c"']);
    await expect(world.open(LOST)).rejects.toBeInstanceOf(OtherDatabase);
    expect(await world.incarnations()).toHaveLength(2);
  });

  it('check again if the owner of the other database was faster', async () => {
    const world = new World();
    const former = await world.open(LOST);
    const knownHead = former.head;
    let reads = 0;
    const raceAhead = async (): Promise<JournalHead> => {
      reads += 1;
      if (reads === 1) await former.append(['"a"']);
      return knownHead;
    };
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: () => Promise.resolve(world.topic.open()),
      clock: new HastyClock(),
      opener: 'ben',
      lineage: { life: FOUND, known: async () => [await raceAhead()] },
      openWithinMillis: 500,
    });
    await expect(journal.open(SHARD)).rejects.toBeInstanceOf(OtherDatabase);
    expect(reads).toBe(2);
  });

  it('find the beginning of an epoch despite foreign records in between, and without anchors', async () => {
    const world = new World();
    const former = await world.open(LOST);
    await former.append(['"a"']);
    const late = world.topic.content().slice(-1);
    for (const payload of ['"b"', '"c"']) {
      await world.topic.open().append(late, 1_000);
      await former.append([payload]);
    }
    await expect(world.open(FOUND)).rejects.toBeInstanceOf(OtherDatabase);

    const first = linkEpoch(SHARD, beforeFirst('auction'), 1, 'ada', { life: LOST });
    const event = linkEvent(SHARD, first, '"a"');
    const bare = new World();
    bare.topic.replace([first, event].map((record) => encodeRecord(record, undefined)));
    await expect(bare.open(FOUND)).rejects.toBeInstanceOf(OtherDatabase);
  });
});

describe('the end of a topic', () => {
  const end = { epoch: 1, sequence: 5, hash: 'e', began: JSON.stringify({ life: LOST }) };

  it('is read again if a leader lacks records that the database knows', () => {
    const ask = () => incarnationAfter(SHARD, FOUND, end, [{ sequence: 6, hash: 'f' }]);
    expect(ask).toThrow('ends with record 5, before 6');
    expect(ask).not.toThrow(OtherDatabase);
  });

  it('has no incarnation if its last epoch has none', () => {
    for (const began of [undefined, '', '"a"', 'null', '{"life":7}']) {
      expect(incarnationAfter(SHARD, FOUND, { ...end, began }, [])).toEqual({ life: FOUND });
    }
  });
});
