import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause } from '#libs/platform/clock.js';
import { loadConfig } from '#libs/platform/config.js';
import { EXIT } from '#libs/platform/start-fault.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { until } from '#libs/testing/contracts/journal-subject.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/test-database.js';
import type { JournalWriter } from '../journal.js';
import { JournalFailure } from '../journal-errors.js';
import { kafkaSettings } from '../kafka/kafka-settings.js';
import { KafkajsTopics } from '../kafka/kafkajs/kafkajs-topics.js';
import { KafkaJournal } from '../kafka/kafka-journal.js';
import { journalMigrations } from '../migrations/list.js';
import { openJournalStore } from './open-journal-store.js';
import type { JournalStore } from './journal-store.js';
import { JournalSeals } from '../seals/journal-seals.js';

jest.setTimeout(60_000);

const SHARD = 0;
/** Longer than a writer relies on what it has heard. */
const SILENT_MILLIS = 300;
const clock = new SystemClock();

/** Somebody deletes a topic and makes it anew, with something else in it. */
describeWithKafka('a topic that is another one since', { anyBrokers: true }, (kafka) => {
  const opened: JournalStore[] = [];
  const writers: JournalWriter[] = [];
  let database: TestDatabase;
  let prefix: string;
  let topics: KafkajsTopics;
  let count = 0;

  beforeEach(async () => {
    database = await createTestDatabase(journalMigrations);
    prefix = `${kafka().prefix}replaced-${(count += 1)}.`;
    topics = at(prefix);
  });
  afterEach(async () => {
    await Promise.all(writers.splice(0).map((writer) => writer.close()));
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await database.drop();
  });

  const at = (name: string): KafkajsTopics =>
    new KafkajsTopics({ brokers: kafka().addresses, clientId: 'test' }, name, clock);
  const store = async (): Promise<JournalStore> => {
    const settings = loadConfig(kafkaSettings, {
      KAFKA_BROKERS: kafka().addresses.join(','),
      KAFKA_TOPIC_PREFIX: prefix,
    });
    const ports = {
      databaseUrl: database.url,
      seals: new JournalSeals([Buffer.alloc(32, 7)]),
      pool: database.pool,
      clock,
      instance: 'test',
      shards: [SHARD],
    };
    const made = await openJournalStore(settings, ports);
    opened.push(made);
    return made;
  };
  const owner = async (place?: JournalStore): Promise<JournalWriter> => {
    const writer = await (place ?? (await store())).journalOf('owner').open(SHARD);
    writers.push(writer);
    return writer;
  };
  const write = async (...payloads: readonly string[]): Promise<void> => {
    const writer = await owner();
    await writer.append(payloads);
    await writer.close();
  };
  const content = async (from = topics): Promise<Buffer[]> => {
    const log = from.open(SHARD);
    const values: Buffer[] = [];
    while (values.length < (await log.end())) {
      values.push(...(await log.fetch(values.length, 1_000_000)).map(({ value }) => value));
    }
    await log.close();
    return values;
  };
  /** Those of a journal that somebody else has written. */
  const foreign = async (records: number): Promise<Buffer[]> => {
    const others = at(`${prefix}others.`);
    const writer = await new KafkaJournal({
      openLog: (shard) => others.prepare(shard),
      clock,
      opener: 'stranger',
    }).open(SHARD);
    await writer.append(Array.from({ length: records - 1 }, (_, index) => `"${index}"`));
    await writer.close();
    return await content(others);
  };
  const replace = async (values: readonly Buffer[]): Promise<void> => {
    await topics.remove(SHARD);
    await until(clock, async () => !(await topics.exists(SHARD)));
    const log = await topics.prepare(SHARD);
    await until(clock, () =>
      log.end().then(
        () => true,
        () => false,
      ),
    );
    if (values.length > 0) await log.append(values, 5_000);
    await log.close();
  };

  it('is told from the known one by the place where the last known record stood', async () => {
    await write('"a"', '"b"');
    const { rows } = await database.pool.query('select epoch, log_offset from journal.witness');
    expect(rows).toEqual([{ epoch: 1, log_offset: 2 }]);
  });

  it('is opened by a database that knows no place yet, which learns it', async () => {
    await write('"a"');
    await database.pool.query('update journal.witness set epoch = null, log_offset = null');
    await write('"b"');
    const { rows } = await database.pool.query('select epoch, sequence, log_offset from journal.witness');
    expect(rows).toEqual([{ epoch: 2, sequence: 4, log_offset: 3 }]);
  });

  describe('while its owner is stopped', () => {
    it.each([
      ['foreign records, more than there were', async () => foreign(9)],
      ['its own records at other places', async () => [(await foreign(2))[0]!, ...(await content())]],
    ])('stops everybody who begins: %s', async (_, made) => {
      await write('"a"', '"b"');
      const values = await made();
      await replace(values);
      const own = await store();
      const refusal = {
        exitCode: EXIT.damaged,
        message: expect.stringContaining('is not the one that this'),
      };
      for (const start of [owner(own), own.prepare(), own.reader.heads(), own.reader.read(SHARD, 1, 9)]) {
        await expect(start).rejects.toMatchObject(refusal);
      }
      expect(await content()).toHaveLength(values.length);
    });

    it('stops who would begin with its end, where another journal goes on behind the known record', async () => {
      await write('"a"', '"b"');
      await replace([...(await content()), ...(await foreign(24)).slice(3)]);
      const own = await store();
      await expect(owner(own)).rejects.toThrow('is corrupt at sequence 4');
      await expect(own.reader.read(SHARD, 1, 99)).rejects.toThrow('is corrupt at sequence 4');
      expect(await content()).toHaveLength(24);
    });
  });

  describe('while its owner runs', () => {
    /** Three records have been written and nothing for a while; the topic is another since. */
    const replacedUnder = async (records: number): Promise<{ writer: JournalWriter; own: JournalStore }> => {
      const values = await foreign(Math.max(2, records));
      const own = await store();
      const writer = await owner(own);
      await writer.append(['"a"', '"b"']);
      expect((await own.reader.heads()).get(SHARD)).toBe(3);
      await replace(values.slice(0, records));
      return { writer, own };
    };

    it.each([0, 2, 3, 8])('acknowledges nothing any more: %d foreign records', async (records) => {
      const { writer } = await replacedUnder(records);
      await pause(clock, SILENT_MILLIS);
      await expect(writer.append(['"c"'])).rejects.toBeInstanceOf(JournalFailure);
      expect(writer.health()).toMatchObject({ ok: false });
    });

    it.each([0, 2, 3, 8])('lets nobody read any more: %d foreign records', async (records) => {
      const { writer, own } = await replacedUnder(records);
      await expect(writer.confirm()).rejects.toBeInstanceOf(JournalFailure);
      const looks = async (): Promise<void> => {
        for (let look = 0; look < 12; look += 1) {
          const head = (await own.reader.heads()).get(SHARD) ?? 0;
          await own.reader.read(SHARD, head, 1);
        }
      };
      await expect(looks()).rejects.toThrow(/is not the one that was read|before what was read|is corrupt/);
    });

    it('is noticed by an owner that nobody asks', async () => {
      const { writer } = await replacedUnder(3);
      await until(clock, () => !writer.health().ok);
      expect(writer.health()).toMatchObject({
        reason: expect.stringContaining('not the one that was written'),
      });
    });

    it('is not suspected where nothing has happened', async () => {
      const writer = await owner();
      await writer.append(['"a"']);
      await pause(clock, 2_500);
      await writer.append(['"b"']);
      await writer.confirm();
      expect(writer.health()).toEqual({ ok: true });
    });
  });
});
