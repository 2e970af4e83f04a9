import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database/test-database.js';
import type { JournalEntry } from '../journal.js';
import { JournalCorrupt, JournalFenced } from '../journal-errors.js';
import { WrongBackend } from '../backend/journal-backend.js';
import { kafkaSettings } from '../kafka/kafka-settings.js';
import { MAX_PAYLOAD_BYTES } from '../limits.js';
import { journalMigrations } from '../migrations/list.js';
import type { JournalStore, StoreKind } from '../stores/journal-store.js';
import { openJournalStore, storeOfKind } from '../stores/open-journal-store.js';
import { compareShard } from './compare-shard.js';
import { moveJournals, type Move, type MovedShard } from './move-journals.js';
import { RecordMacs } from '../seals/record-macs.js';
import { CheckpointTable } from '../checkpoint/checkpoint-table.js';

jest.setTimeout(60_000);

const SHARDS = [0, 1];
const END_LOCKS = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'sotto-journal-lock' and datname = current_database()`;
const clock = new SystemClock();

describeWithKafka('journals that are moved', { anyBrokers: true }, (kafka) => {
  const opened: JournalStore[] = [];
  let database: TestDatabase;
  let topicPrefix: string;
  let count = 0;

  beforeEach(async () => {
    database = await createTestDatabase(journalMigrations);
    topicPrefix = `${kafka().prefix}moving-${(count += 1)}.`;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await database.drop();
  });

  const settings = () =>
    loadConfig(kafkaSettings, {
      KAFKA_BROKERS: kafka().addresses.join(','),
      KAFKA_TOPIC_PREFIX: topicPrefix,
    });
  const ports = () => ({
    family: 'auction' as const,
    databaseUrl: database.url,
    seals: new RecordMacs('auction', [Buffer.alloc(32, 7)]),
    pool: database.pool,
    clock,
    instance: 'test',
    shards: SHARDS,
  });
  const storeOf = async (kind: StoreKind): Promise<JournalStore> => {
    const store = await storeOfKind(kind, settings(), ports());
    opened.push(store);
    return store;
  };
  /** Opens each shard as an owner, writes, and stops. */
  const write = async (kind: StoreKind, ...batches: readonly (readonly string[])[]): Promise<void> => {
    const store = await storeOf(kind);
    try {
      for (const shard of SHARDS) {
        const writer = await store.journalOf('owner').open(shard);
        for (const batch of batches) await writer.append(batch);
        await writer.close();
      }
    } finally {
      await store.close();
    }
  };
  const move = async (from: StoreKind, to: StoreKind, tell?: Move['tell']): Promise<MovedShard[]> =>
    moveJournals({
      family: 'auction',
      from: await storeOf(from),
      to: await storeOf(to),
      databaseUrl: database.url,
      clock,
      shards: SHARDS,
      opener: 'mover',
      ...(tell === undefined ? {} : { tell }),
    });
  const all = async (kind: StoreKind, shard: number): Promise<JournalEntry[]> =>
    everything((await storeOf(kind)).reader, shard);

  it('arrive with every record and hash, and owners continue only there', async () => {
    await write('postgres', ['"a"', '"b"'], ['"ä"']);
    await write('postgres', ['"c"']);
    const before = await all('postgres', 1);
    const [, moved] = await move('postgres', 'kafka');
    const there = await all('kafka', 1);
    expect(there.slice(0, before.length)).toEqual(before);
    expect(there).toEqual(await all('postgres', 1));
    expect(moved).toMatchObject({ shard: 1, found: 0, records: before.length + 1, hash: there.at(-1)!.hash });
    await expect(write('postgres', ['"no"'])).rejects.toThrow('the journals are in Kafka');
    const plain = loadConfig(kafkaSettings, {});
    await expect(openJournalStore(plain, ports())).rejects.toThrow('set KAFKA_BROKERS');
    await write('kafka', ['"d"']);
    expect((await all('kafka', 1)).slice(0, there.length)).toEqual(there);
  });

  it('return after the part that was left there, and move again, always as one chain', async () => {
    await write('postgres', ['"a"']);
    await move('postgres', 'kafka');
    await write('kafka', ['"b"', '"c"']);
    const [back] = await move('kafka', 'postgres');
    expect(back).toMatchObject({ found: 3 });
    await expect(write('kafka', ['"no"'])).rejects.toThrow('the journals are in PostgreSQL');
    await write('postgres', ['"d"']);
    await move('postgres', 'kafka');
    await write('kafka', ['"e"']);
    const events = (await all('kafka', 0)).filter(({ kind }) => kind === 'event');
    expect(events.map(({ payload }) => payload)).toEqual(['"a"', '"b"', '"c"', '"d"', '"e"']);
    const [postgres, inKafka] = [await storeOf('postgres'), await storeOf('kafka')];
    const comparison = await compareShard(0, postgres.reader, inKafka.reader);
    expect(comparison).toMatchObject({ differs: undefined, surplus: { one: 0, other: 2 } });
  });

  it('may hold the longest payloads, and more records than one write', async () => {
    await write('postgres', ...Array.from({ length: 6 }, () => [`"${'x'.repeat(MAX_PAYLOAD_BYTES - 2)}"`]));
    await write(
      'postgres',
      Array.from({ length: 3_000 }, (_, index) => `"${index}"`),
    );
    await move('postgres', 'kafka');
    expect(await all('kafka', 0)).toEqual(await all('postgres', 0));
  });

  it('stay where they are if the move is interrupted, and the next one resumes', async () => {
    await write(
      'postgres',
      Array.from({ length: 3_000 }, (_, index) => `"${index}"`),
    );
    const broken = move('postgres', 'kafka', ({ shard, done }) => {
      if (shard === 0 && done > 2_000) throw new Error('broken off');
    });
    await expect(broken).rejects.toThrow('broken off');
    await write('postgres', ['"in between"']);
    const [first, second] = await move('postgres', 'kafka');
    expect(first!.found).toBeGreaterThan(2_000);
    expect(second).toMatchObject({ found: 0 });
    expect(await all('kafka', 0)).toEqual(await all('postgres', 0));
  });

  it('are not moved while an owner runs, and no owner starts during a move', async () => {
    const store = await storeOf('postgres');
    const owner = await store.journalOf('owner').open(0);
    await owner.append(['"a"']);
    await expect(move('postgres', 'kafka')).rejects.toThrow('stop the cluster first');
    await owner.append(['"b"']);
    await owner.close();
    await store.close();
    const starts: Promise<unknown>[] = [];
    await move('postgres', 'kafka', () => {
      starts.push(write('postgres', ['"c"']).catch((error: unknown) => error));
    });
    for (const refusal of await Promise.all(starts)) expect(refusal).toBeInstanceOf(StartFault);
    expect(starts.length).toBeGreaterThan(0);
    expect(await all('postgres', 0)).toHaveLength(4);
  });

  it.each([
    ['postgres', 'kafka'],
    ['kafka', 'postgres'],
  ] as const)('from %s fence an owner that was only suspended: it writes nothing more', async (from, to) => {
    // It lost its lock with its connection to the database, and has not taken the lock again yet.
    const asleep = await (await storeOf(from)).journalOfMover('asleep').open(0);
    await asleep.append(['"a"']);
    await move(from, to);
    await expect(asleep.append(['"late"'])).rejects.toBeInstanceOf(JournalFenced);
    expect(await all(from, 0)).toEqual(await all(to, 0));
    await asleep.close();
  });

  it.each([
    ['postgres', 'kafka'],
    ['kafka', 'postgres'],
  ] as const)(
    'from %s to %s end an idle owner that wakes up, which does not block the way back',
    async (from, to) => {
      const owner = await (await storeOf(from)).journalOf('owner').open(0);
      await owner.append(['"a"']);
      await database.pool.query(END_LOCKS);
      await move(from, to);
      await eventually(() => expect(owner.health()).toMatchObject({ ok: false }));
      await expect(owner.append(['"late"'])).rejects.toBeInstanceOf(JournalFenced);
      await move(to, from);
      expect(await all(from, 0)).toEqual(await all(to, 0));
      await owner.close();
    },
  );

  it('are not used by an owner that was opening a shard in Kafka and lost its lock meanwhile', async () => {
    const owner = await storeOf('kafka');
    const place = jest.spyOn(CheckpointTable.prototype, 'located');
    place.mockImplementationOnce(async () => {
      await database.pool.query(END_LOCKS);
      await eventually(() => move('kafka', 'postgres'));
      return undefined;
    });
    const failure = await owner
      .journalOf('owner')
      .open(0)
      .catch((error: unknown) => error);
    place.mockRestore();
    expect(failure).toBeInstanceOf(WrongBackend);
    expect(await all('kafka', 0)).toEqual(await all('postgres', 0));
  });

  it.each([
    ['postgres', 'kafka'],
    ['kafka', 'postgres'],
  ] as const)(
    'stay in %s if a process takes a shard back before the backend is changed',
    async (from, to) => {
      await write(from, ['"a"']);
      const [old, target] = [await storeOf(from), await storeOf(to)];
      const originalBackend = target.backend.bind(target);
      jest.spyOn(target, 'backend').mockImplementation(async () => {
        await (await old.journalOfMover('asleep').open(0)).close();
        return await originalBackend();
      });
      const ports = {
        family: 'auction' as const,
        from: old,
        to: target,
        databaseUrl: database.url,
        clock,
        shards: SHARDS,
        opener: 'mover',
      };
      await expect(moveJournals(ports)).rejects.toThrow('shard 0 has changed while it was moved');
      await write(from, ['"b"']);
    },
  );

  it('are not mixed with other journals that are there already', async () => {
    await write('postgres', ['"a"', '"b"']);
    // The writer is from another database, which knows nothing of this journal.
    await database.pool.query('delete from journal.sealed');
    const stranger = await (await storeOf('kafka')).journalOfMover('stranger').open(0);
    await stranger.append(['"x"']);
    await stranger.close();
    await expect(move('postgres', 'kafka')).rejects.toThrow('there is another record already');
    await write('postgres', ['"c"']);
  });

  it.each([
    ['postgres', 'kafka', 'no'],
    ['kafka', 'postgres', 'another'],
  ] as const)(
    'from %s to %s are not continued after a copy in which a record has %s MAC',
    async (from, to, kind) => {
      await write(from, ['"a"', '"b"'], ['"c"']);
      const entries = await all(from, 1);
      const odd = entries.findIndex((entry) => entry.kind === 'event' && entry.seal !== undefined);
      const { seal = Buffer.alloc(0), ...bare } = entries[odd]!;
      const target = await storeOf(to);
      const receiver = target.receiver();
      await receiver.receive(
        1,
        entries.with(odd, kind === 'no' ? bare : { ...bare, seal: Buffer.alloc(seal.length) }),
      );
      const failure = await move(from, to).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(JournalCorrupt);
      expect(failure).toMatchObject({ shard: 1, sequence: odd + 1 });
      expect((failure as Error).message).toContain(kind === 'no' ? 'without its seal' : 'with another seal');
      // Nothing was written in either store.
      expect(await all(from, 1)).toEqual(entries);
      expect(await receiver.head(0)).toMatchObject({ sequence: 0 });
      await receiver.close();
      const source = await storeOf(from);
      const comparison = await compareShard(1, source.bareReader, target.bareReader);
      expect(comparison.differs).toMatchObject({ sequence: odd + 1, in: 'seal' });
    },
  );

  it('stay where they are if damaged, and the error names the record', async () => {
    await write('postgres', ['"a"', '"b"', '"c"']);
    await database.pool.query(`update journal.records set payload = '"z"' where shard = 1 and sequence = 3`);
    const failure = await move('postgres', 'kafka').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JournalCorrupt);
    expect(failure).toMatchObject({ shard: 1, sequence: 3 });
    await (await openJournalStore(loadConfig(kafkaSettings, {}), ports())).close();
  });

  it('are not moved from a store that does not have them', async () => {
    await write('kafka', ['"a"']);
    await expect(move('postgres', 'kafka')).rejects.toThrow(
      'the journals are in kafka already: there is nothing',
    );
    topicPrefix = `${topicPrefix}other.`;
    await expect(move('postgres', 'kafka')).rejects.toThrow('the journals are not there');
  });
});
