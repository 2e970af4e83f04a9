import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pause } from '#libs/platform/clock.js';
import { loadConfig } from '#libs/platform/config.js';
import { EXIT, type StartFault } from '#libs/platform/start-fault.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { everything, until } from '#libs/testing/contracts/journal-subject.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/test-database.js';
import { kafkaSettings } from '../kafka/kafka-settings.js';
import { KafkajsTopics } from '../kafka/kafkajs/kafkajs-topics.js';
import type { LogMessage } from '../kafka/topic-log.js';
import { journalMigrations } from '../migrations/list.js';
import { moveJournals } from '../moving/move-journals.js';
import type { JournalWriter } from '../journal.js';
import type { JournalStore, StoreKind } from './journal-store.js';
import { openJournalStore, storeOfKind } from './open-journal-store.js';
import { JournalSeals } from '../seals/journal-seals.js';

jest.setTimeout(60_000);

const SHARDS = [0, 1];
const GENESIS = '0'.repeat(64);
const WHOLE = 1_000;
const clock = new SystemClock();

describeWithKafka('journals that the database has seen', { anyBrokers: true }, (kafka) => {
  const opened: JournalStore[] = [];
  const writers: JournalWriter[] = [];
  const databases: TestDatabase[] = [];
  let database: TestDatabase;
  let prefix: string;
  let topics: KafkajsTopics;
  let count = 0;

  beforeEach(async () => {
    database = await anotherDatabase();
    prefix = `${kafka().prefix}witness-${(count += 1)}.`;
    topics = new KafkajsTopics({ brokers: kafka().addresses, clientId: 'test' }, prefix, clock);
  });
  afterEach(async () => {
    await Promise.all(writers.splice(0).map((writer) => writer.close()));
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await Promise.all(databases.splice(0).map((one) => one.drop()));
  });

  async function anotherDatabase(): Promise<TestDatabase> {
    const made = await createTestDatabase(journalMigrations);
    databases.push(made);
    return made;
  }
  const settings = (topicPrefix = prefix) =>
    loadConfig(kafkaSettings, {
      KAFKA_BROKERS: kafka().addresses.join(','),
      KAFKA_TOPIC_PREFIX: topicPrefix,
    });
  const ports = () => ({
    databaseUrl: database.url,
    seals: new JournalSeals([Buffer.alloc(32, 7)]),
    pool: database.pool,
    clock,
    instance: 'test',
    shards: SHARDS,
  });
  /** As every process of a cluster opens it. */
  const store = async (given = settings()): Promise<JournalStore> => {
    const made = await openJournalStore(given, ports());
    opened.push(made);
    return made;
  };
  const storeOf = async (kind: StoreKind): Promise<JournalStore> => {
    const made = await storeOfKind(kind, settings(), ports());
    opened.push(made);
    return made;
  };
  const owner = async (
    place: JournalStore,
    shard: number,
    onFault?: (error: unknown) => void,
  ): Promise<JournalWriter> => {
    const writer = await place.journalOf('owner', onFault).open(shard);
    writers.push(writer);
    return writer;
  };
  /** As an owner does it, who is gone afterwards. */
  const write = async (...payloads: readonly string[]): Promise<void> => {
    const own = await store();
    for (const shard of SHARDS) {
      const writer = await owner(own, shard);
      await writer.append(payloads);
      await writer.close();
    }
    await own.close();
  };
  const refusal = async (start: Promise<unknown>): Promise<StartFault> => {
    const failure = await start.then(
      () => undefined,
      (error: unknown) => error as StartFault,
    );
    expect(failure).toMatchObject({ exitCode: expect.any(Number) });
    expect(failure!.message).not.toContain('\n');
    return failure!;
  };
  const witnesses = async (): Promise<Map<number, { sequence: number; hash: string }>> => {
    const { rows } = await database.pool.query<{ shard: number; sequence: number; hash: string }>(
      `select shard, sequence, encode(hash, 'hex') as hash from journal.witness order by shard`,
    );
    return new Map(rows.map(({ shard, sequence, hash }) => [shard, { sequence, hash }]));
  };
  const home = async (): Promise<unknown[]> =>
    (await database.pool.query<{ topic_prefix: string }>('select topic_prefix from journal.home')).rows;
  const content = async (shard: number): Promise<LogMessage[]> => {
    const log = topics.open(shard);
    const messages: LogMessage[] = [];
    while (messages.length < (await log.end())) {
      messages.push(...(await log.fetch(messages.length, 1_000_000)));
    }
    await log.close();
    return messages;
  };
  /** Somebody deletes the topic, and may make it anew with this in it. */
  const replace = async (shard: number, messages?: readonly LogMessage[]): Promise<void> => {
    if (await topics.exists(shard)) await topics.remove(shard);
    await until(clock, async () => !(await topics.exists(shard)));
    if (messages === undefined) return;
    const log = await topics.prepare(shard);
    await until(clock, () =>
      log.end().then(
        () => true,
        () => false,
      ),
    );
    const values = messages.map(({ value }) => value);
    const seals = messages.flatMap(({ seal }, at) => (seal === undefined ? [] : [[at, seal] as const]));
    await log.append(values, 5_000, new Map(seals));
    await log.close();
  };

  it('are known up to the last record when their writer is gone, and each second while it writes', async () => {
    const own = await store();
    expect([await own.reader.heads(), await own.reader.read(1, 1, WHOLE)]).toEqual([new Map(), []]);
    await write('"a"', '"b"');
    expect(await own.reader.heads()).toEqual(new Map(SHARDS.map((shard) => [shard, 3])));
    const [, , last] = await everything(own.reader, 1);
    expect((await witnesses()).get(1)).toEqual({ sequence: 3, hash: last!.hash });
    const writer = await owner(own, 0);
    expect((await witnesses()).get(0)).toEqual({ sequence: 4, hash: writer.head.hash });
    await writer.append(['"c"']);
    await until(clock, async () => (await witnesses()).get(0)!.sequence === 5);
    await writer.append(['"d"']);
    await writer.close();
    expect((await witnesses()).get(0)).toEqual({ sequence: 6, hash: writer.head.hash });
  });

  it('go on without a database that can be told, which says so once and catches up', async () => {
    await write('"a"');
    const faults: unknown[] = [];
    const own = await store();
    const writer = await owner(own, 0, (error) => faults.push(error));
    await database.pool.query('alter table journal.witness rename to nowhere');
    await writer.append(['"b"']);
    await until(clock, () => faults.length > 0);
    await writer.append(['"c"']);
    await pause(clock, 2_500);
    expect(faults).toHaveLength(1);
    expect(writer.health()).toEqual({ ok: true });
    await database.pool.query('alter table journal.nowhere rename to witness');
    await until(clock, async () => (await witnesses()).get(0)!.sequence === writer.head.sequence);
    await writer.close();
  });

  describe('are not begun anew', () => {
    it('when a topic was deleted', async () => {
      await write('"a"', '"b"');
      await replace(1);
      const failure = await refusal(owner(await store(), 1));
      expect(failure.exitCode).toBe(EXIT.damaged);
      expect(failure.message).toContain(`shard 1: topic ${prefix}1 is gone`);
      expect(failure.message).toContain('has seen record 3');
      expect((await refusal((await store()).prepare())).message).toContain(`${prefix}1`);
      expect(await topics.exists(1)).toBe(false);
    });

    it('when all of them were, or were made anew by somebody', async () => {
      await write('"a"');
      for (const shard of SHARDS) await replace(shard);
      expect((await refusal((await store()).prepare())).exitCode).toBe(EXIT.damaged);
      for (const shard of SHARDS) await (await topics.prepare(shard)).close();
      expect((await refusal((await store()).prepare())).message).toContain('is gone, or empty');
      expect(await content(0)).toEqual([]);
    });

    it('when the end of one was cut off', async () => {
      await write('"a"', '"b"', '"c"');
      await replace(0, (await content(0)).slice(0, 3));
      const failure = await refusal(owner(await store(), 0));
      expect([failure.exitCode, failure.message]).toEqual([
        EXIT.damaged,
        expect.stringContaining(`topic ${prefix}0 ends with record 3, but this database has seen record 4`),
      ]);
      expect(await content(0)).toHaveLength(3);
    });

    it('when another journal stands there', async () => {
      await write('"a"');
      await replace(0, await content(1));
      expect((await refusal(owner(await store(), 0))).exitCode).toBe(EXIT.damaged);
      const database1 = database;
      database = await anotherDatabase();
      prefix = `${prefix}other.`;
      await write('"x"', '"y"');
      const others = await content(0);
      topics = new KafkajsTopics({ brokers: kafka().addresses, clientId: 'test' }, prefix, clock);
      const values = await content(0);
      expect(others).toHaveLength(2);
      database = database1;
      prefix = prefix.slice(0, -'other.'.length);
      topics = new KafkajsTopics({ brokers: kafka().addresses, clientId: 'test' }, prefix, clock);
      await replace(0, values);
      const failure = await refusal(owner(await store(), 0));
      expect(failure.message).toContain('is not the one that this database has seen there');
    });

    it('when only a snapshot knows how far one had come', async () => {
      await write('"a"', '"b"');
      const [entry] = await (await store()).reader.read(0, 3, 1);
      await database.pool.query(
        `update journal.witness set sequence = 1, epoch = null, log_offset = null where shard = 0`,
      );
      await database.pool.query(`insert into journal.snapshots values (0, 3, decode($1, 'hex'), 1, '')`, [
        entry!.hash,
      ]);
      await replace(0, (await content(0)).slice(0, 2));
      expect((await refusal(owner(await store(), 0))).message).toContain('record 3');
    });
  });

  it('of another cluster are not taken for those of a new one', async () => {
    await write('"a"');
    database = await anotherDatabase();
    const own = await store();
    for (const start of [own.prepare(), owner(own, 0)]) {
      const failure = await refusal(start);
      expect(failure.exitCode).toBe(EXIT.damaged);
      expect(failure.message).toContain(`topic ${prefix}0 holds a journal of which this database has never`);
    }
    expect([await home(), await witnesses()]).toEqual([[], new Map()]);
    expect(await content(0)).toHaveLength(2);
    expect([await own.reader.heads(), await own.reader.read(0, 1, WHOLE)]).toEqual([new Map(), []]);
    await expect(own.reader.entries(0, [1])).rejects.toThrow(
      'nothing is known of the journal of shard 0 yet',
    );
    // Nor by an empty place that a start before had found, and not settled.
    const empty = `insert into journal.witness select shard, 0, decode($1, 'hex') from generate_series(0, 1) as shard`;
    await database.pool.query(empty, [GENESIS]);
    expect((await refusal(own.prepare())).message).toContain('never');
  });

  it.each([
    ['made', 0],
    ['written to', 1],
  ])('begin although an owner died when the first topic was just %s', async (_, records) => {
    await (await store()).prepare();
    if (records > 0) await write('"a"');
    await database.pool.query(`update journal.witness set sequence = 0, hash = decode($1, 'hex')`, [GENESIS]);
    await write('"b"');
    const events = (await everything((await store()).reader, 0)).filter(({ kind }) => kind === 'event');
    expect(events.at(-1)!.payload).toBe('"b"');
    expect(events).toHaveLength(1 + records);
  });

  it('that were in Kafka before anybody looked are believed once', async () => {
    await write('"a"');
    const added = journalMigrations.filter(({ name }) => name.includes('Witness'));
    await database.pool.query('drop table journal.witness');
    const runner = { query: (text: string) => database.pool.query(text) };
    for (const migration of added) await new migration().up(runner as never);
    expect([...(await witnesses()).values()]).toEqual([0, 1, 2].map(() => ({ sequence: 0, hash: GENESIS })));
    await write('"b"');
    expect((await witnesses()).get(0)!.sequence).toBe(4);
  });

  describe('are settled', () => {
    it('by no start that is refused', async () => {
      await (await topics.prepare(1)).close();
      await spoil(1);
      expect((await refusal((await store()).prepare())).message).toContain('cannot keep a journal');
      await refusal(owner(await store(), 1));
      const nobody = loadConfig(kafkaSettings, { KAFKA_BROKERS: '127.0.0.1:1', KAFKA_TOPIC_PREFIX: prefix });
      await refusal((await store(nobody)).prepare());
      expect([await home(), await witnesses(), await topics.exists(0)]).toEqual([[], new Map(), false]);
    });

    it('in one place only, however many owners begin at once', async () => {
      const elsewhere = `${prefix}elsewhere.`;
      const places = [settings(), settings(elsewhere), loadConfig(kafkaSettings, {})];
      const starts = await Promise.allSettled(
        places.map(async (place, shard) => owner(await store(place), shard % 2)),
      );
      const going = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
      expect(going).toHaveLength(1);
      for (const start of starts) {
        if (start.status === 'rejected') expect(start.reason).toMatchObject({ exitCode: EXIT.config });
      }
      await Promise.all(going.map((writer) => writer.close()));
      const inPostgres = (await database.pool.query('select from journal.records')).rowCount === 1;
      expect(await home()).toHaveLength(inPostgres ? 0 : 1);
    });

    async function spoil(shard: number): Promise<void> {
      const { Kafka, ConfigResourceTypes, logLevel } = (await import('kafkajs')).default;
      const admin = new Kafka({ brokers: [...kafka().addresses], logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
      await admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: ConfigResourceTypes.TOPIC,
            name: topics.nameOf(shard),
            configEntries: [{ name: 'retention.ms', value: '1000' }],
          },
        ],
      });
      await admin.disconnect();
    }
  });

  describe('are shown to nobody', () => {
    it.each([
      ['gone', 0],
      ['cut off', 2],
    ])('who serves them, when one is %s; whoever judges sees what stands there', async (_, left) => {
      await write('"a"', '"b"');
      const values = await content(0);
      await replace(0, left === 0 ? undefined : values.slice(0, left));
      const { reader, bareReader } = await store();
      for (const question of [reader.heads(), reader.read(0, 1, 1), reader.entries(0, [1])]) {
        expect((await refusal(question)).message).toContain('has seen record 3');
      }
      expect(await reader.read(1, 1, WHOLE)).toHaveLength(3);
      expect((await bareReader.heads()).get(0) ?? 0).toBe(left);
      await replace(0, values);
      const healed = (await store()).reader;
      expect((await healed.heads()).get(0)).toBe(3);
    });

    it('who has read them already, when another topic takes its place', async () => {
      await write('"a"', '"b"');
      const { reader } = await store();
      expect((await reader.heads()).get(0)).toBe(3);
      const values = await content(0);
      await replace(0, values.slice(0, 2));
      await expect(reader.heads()).rejects.toThrow('ends at 2, before what was read');
    });
  });

  it('are no source of a move when they are lost, and what was left behind is witnessed when they come back', async () => {
    await write('"a"', '"b"');
    const move = async (from: StoreKind, to: StoreKind) =>
      moveJournals({
        from: await storeOf(from),
        to: await storeOf(to),
        databaseUrl: database.url,
        clock,
        shards: SHARDS,
        opener: 'mover',
      });
    const values = await content(1);
    await replace(1);
    expect((await refusal(move('kafka', 'postgres'))).exitCode).toBe(EXIT.damaged);
    expect(await topics.exists(1)).toBe(false);
    await replace(1, values);
    await move('kafka', 'postgres');
    const left = await witnesses();
    expect(left.get(1)!.sequence).toBe(4);
    // What is left in Kafka may go: the journals are not there any more, and are copied whole.
    await replace(0);
    const moved = await move('postgres', 'kafka');
    for (const { shard, records, hash } of moved) {
      expect((await witnesses()).get(shard)).toEqual({ sequence: records, hash });
      expect(records).toBeGreaterThan(left.get(shard)!.sequence);
    }
    await write('"c"');
  });
});
