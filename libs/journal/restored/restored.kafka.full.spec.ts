import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { EXIT } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { until } from '#libs/testing/contracts/journal-subject.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import { kafkaSettings } from '../kafka/kafka-settings.js';
import { KafkajsTopics } from '../kafka/kafkajs/kafkajs-topics.js';
import { journalMigrations } from '../migrations/list.js';
import type { JournalStore } from '../stores/journal-store.js';
import { openJournalStore, openStoreToRead } from '../stores/open-journal-store.js';
import { RestoredMark } from './restored-mark.js';
import { RecordMacs } from '../seals/record-macs.js';

jest.setTimeout(60_000);

const SHARDS = [0, 1];
const clock = new SystemClock();

describeWithKafka('a database that was restored while its topics stayed', { anyBrokers: true }, (kafka) => {
  const opened: JournalStore[] = [];
  let database: TestDatabase;
  let prefix: string;
  let count = 0;

  beforeEach(async () => {
    database = await createTestDatabase(journalMigrations);
    prefix = `${kafka().prefix}restored-${(count += 1)}.`;
    await write('"a"', '"b"');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await database.drop();
  });

  const settings = () =>
    loadConfig(kafkaSettings, { KAFKA_BROKERS: kafka().addresses.join(','), KAFKA_TOPIC_PREFIX: prefix });
  const ports = () => ({
    family: 'auction' as const,
    databaseUrl: database.url,
    seals: new RecordMacs('auction', [Buffer.alloc(32, 7)]),
    pool: database.pool,
    clock,
    instance: 'test',
    shards: SHARDS,
  });
  const store = async (): Promise<JournalStore> => {
    const made = await openJournalStore(settings(), ports());
    opened.push(made);
    return made;
  };
  async function write(...payloads: readonly string[]): Promise<void> {
    const own = await store();
    for (const shard of SHARDS) {
      const writer = await own.journalOf('owner').open(shard);
      await writer.append(payloads);
      await writer.close();
    }
    await own.close();
  }
  const restored = (): Promise<void> =>
    RestoredMark.set(database.pool, {
      journals: SHARDS.map((shard) => ({ family: 'auction', shard })),
      takenAt: '2026-11-21T00:00:00Z',
    });
  const marks = (): Promise<unknown[]> => new RestoredMark(database.pool, 'auction').ends();
  /** Leaves the topics as they are, and sets the database back to before the last record of these shards. */
  const older = async (...shards: readonly number[]): Promise<void> => {
    await database.pool.query('create table public.former as select * from journal.witness');
    await write('"c"');
    for (const shard of SHARDS.filter((each) => !shards.includes(each))) {
      await database.pool.query('delete from public.former where shard = $1', [shard]);
    }
    await database.pool.query(
      `update journal.witness w set sequence = f.sequence, hash = f.hash, epoch = f.epoch, log_offset = f.log_offset
       from public.former f where f.shard = w.shard`,
    );
    await restored();
  };

  it('is writable if every topic ends where the backup did, and is then like any other database', async () => {
    await restored();
    expect(await marks()).toMatchObject([
      { shard: 0, sequence: 3 },
      { shard: 1, sequence: 3 },
    ]);
    await write('"c"');
    expect(await marks()).toEqual([]);
    await write('"d"');
    expect((await (await store()).reader.heads()).get(1)).toBe(7);
  });

  it('is writable by all owners that begin at the same moment', async () => {
    await restored();
    const own = await Promise.all(SHARDS.map(() => store()));
    const writers = await Promise.all(SHARDS.map((shard) => own[shard]!.journalOf('owner').open(shard)));
    expect(writers.map(({ head }) => head.sequence)).toEqual([4, 4]);
    await Promise.all(writers.map((writer) => writer.close()));
  });

  it('is neither writable nor readable while one topic is ahead of it, for any shard', async () => {
    await older(1);
    const own = await store();
    const { reader, bareReader } = own;
    const refusalText = expect.stringContaining('shard 1 goes up to record 5, the backup up to 3');
    for (const start of [own.journalOf('owner').open(0), own.journalOf('owner').open(1), own.prepare()]) {
      await expect(start).rejects.toMatchObject({ exitCode: EXIT.config, message: refusalText });
    }
    const refused = expect.stringContaining('was restored from a backup');
    for (const question of [reader.heads(), reader.read(0, 1, 1), own.journalOfMover('mover').open(0)]) {
      await expect(question).rejects.toMatchObject({ exitCode: EXIT.config, message: refused });
    }
    await expect(openStoreToRead(settings(), ports())).rejects.toMatchObject({ exitCode: EXIT.config });
    expect(await marks()).toHaveLength(2);
    expect(await bareReader.heads()).toEqual(
      new Map([
        [0, 5],
        [1, 5],
      ]),
    );
  });

  it('learns how far its topics extend, and is writable only once all of that is accepted', async () => {
    await older(1);
    const own = await store();
    const surplus = await own.surplus();
    expect(surplus).toMatchObject([
      { shard: 0, sequence: 5, end: 5 },
      { shard: 1, sequence: 3, end: 5 },
    ]);
    const acceptedUpTo = async (...sequences: readonly number[]): Promise<void> => {
      const entries = await Promise.all(sequences.map((at, shard) => own.bareReader.read(shard, at, 1)));
      const ends = entries.map(([entry], shard) => ({ shard, sequence: entry!.sequence, hash: entry!.hash }));
      await new RestoredMark(database.pool, 'auction').accept(ends);
    };
    await acceptedUpTo(5, 4);
    await expect(own.prepare()).rejects.toMatchObject({ exitCode: EXIT.config });
    await expect(acceptedUpTo(4, 5)).rejects.toThrow('has gone');
    await acceptedUpTo(5, 5);
    expect(await marks()).toHaveLength(2);
    await write('"d"');
    expect(await marks()).toEqual([]);
    expect(await own.surplus()).toEqual([]);
  });

  it('is refused as lost, not as older, if a topic is shorter than the backup knows', async () => {
    await older(0, 1);
    const topics = new KafkajsTopics(
      { brokers: kafka().addresses, clientId: 'test' },
      { prefix, family: 'auction' },
      clock,
    );
    await topics.remove(0);
    await until(clock, async () => !(await topics.exists(0)));
    await expect((await store()).prepare()).rejects.toMatchObject({
      exitCode: EXIT.damaged,
      message: expect.stringContaining('is gone, or empty'),
    });
    await expect((await store()).surplus()).rejects.toMatchObject({ exitCode: EXIT.damaged });
    expect(await marks()).toHaveLength(2);
  });

  it('has no mark if its journals were restored with it, and keeps its first mark', async () => {
    await restored();
    const first = await marks();
    await database.pool.query('update journal.witness set sequence = sequence + 1');
    await restored();
    expect(await marks()).toEqual(first);
    await database.pool.query('delete from journal.restored; delete from journal.home');
    await restored();
    expect(await marks()).toEqual([]);
  });
});
