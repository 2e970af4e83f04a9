import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadConfig } from '#libs/platform/settings/config.js';
import { EXIT, type StartFault } from '#libs/platform/process/start-fault.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { everything, until } from '#libs/testing/contracts/journal-subject.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { beforeFirst } from '../hash-chain.js';
import { kafkaSettings } from '../kafka/kafka-settings.js';
import type { StoreKind } from './journal-store.js';
import { moveJournals } from '../moving/move-journals.js';

jest.setTimeout(60_000);

const SHARDS = [0, 1];
const GENESIS = beforeFirst('auction').hash;
const WHOLE = 1_000;
const clock = new SystemClock();

describeWithKafka('journals that the database has seen', { anyBrokers: true }, (kafka) => {
  const begun: KeptJournals[] = [];
  let journals: KeptJournals;

  beforeEach(async () => {
    journals = await KeptJournals.begin(kafka(), SHARDS);
    begun.push(journals);
  });
  afterEach(async () => {
    await Promise.all(begun.map((one) => one.close()));
    await Promise.all(begun.splice(0).map((one) => one.dispose()));
  });

  const refusal = async (start: Promise<unknown>): Promise<StartFault> => {
    const failure = await start.then(
      () => undefined,
      (error: unknown) => error as StartFault,
    );
    expect(failure).toMatchObject({ exitCode: expect.any(Number) });
    expect(failure!.message).not.toContain('\n');
    return failure!;
  };
  const seenRecords = async (): Promise<Map<number, { sequence: number; hash: string }>> => {
    const { rows } = await journals.database.pool.query<{ shard: number; sequence: number; hash: string }>(
      `select shard, sequence, encode(hash, 'hex') as hash from journal.witness order by shard`,
    );
    return new Map(rows.map(({ shard, sequence, hash }) => [shard, { sequence, hash }]));
  };
  const backends = async (): Promise<unknown[]> =>
    (await journals.database.pool.query<{ topic_prefix: string }>('select topic_prefix from journal.home'))
      .rows;
  async function spoil(shard: number): Promise<void> {
    const { Kafka, ConfigResourceTypes, logLevel } = (await import('kafkajs')).default;
    const admin = new Kafka({ brokers: [...kafka().addresses], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: ConfigResourceTypes.TOPIC,
          name: journals.topics.nameOf(shard),
          configEntries: [{ name: 'retention.ms', value: '1000' }],
        },
      ],
    });
    await admin.disconnect();
  }

  it('are known up to the last record once their writer has ended, and each second while it writes', async () => {
    const own = await journals.store();
    expect([await own.reader.heads(), await own.reader.read(1, 1, WHOLE)]).toEqual([new Map(), []]);
    await journals.write('"a"', '"b"');
    expect(await own.reader.heads()).toEqual(new Map(SHARDS.map((shard) => [shard, 3])));
    const [, , last] = await everything(own.reader, 1);
    expect((await seenRecords()).get(1)).toEqual({ sequence: 3, hash: last!.hash });
    const writer = await journals.owner(0, own);
    expect((await seenRecords()).get(0)).toEqual({ sequence: 4, hash: writer.head.hash });
    await writer.append(['"c"']);
    await until(clock, async () => (await seenRecords()).get(0)!.sequence === 5);
    await writer.append(['"d"']);
    await writer.close();
    expect((await seenRecords()).get(0)).toEqual({ sequence: 6, hash: writer.head.hash });
  });

  describe('are not begun again', () => {
    it('if a topic was deleted', async () => {
      await journals.write('"a"', '"b"');
      await journals.replace(1);
      const failure = await refusal(journals.owner(1));
      expect(failure.exitCode).toBe(EXIT.damaged);
      expect(failure.message).toContain(`shard 1: topic ${journals.prefix}auction.1 is gone`);
      expect(failure.message).toContain('has seen record 3');
      expect((await refusal((await journals.store()).prepare())).message).toContain(
        `${journals.prefix}auction.1`,
      );
      expect(await journals.topics.exists(1)).toBe(false);
    });

    it('and a setting that would lose more records is reported first', async () => {
      await journals.write('"a"', '"b"');
      await journals.replace(1, (await journals.content(1)).slice(0, 2));
      await spoil(1);
      const store = await journals.store();
      for (const start of [() => store.prepare(), () => journals.owner(1)]) {
        const failure = await refusal(start());
        expect([failure.exitCode, failure.message]).toEqual([
          EXIT.config,
          expect.stringContaining('cannot keep a journal'),
        ]);
      }
    });

    it('if all of them were deleted or recreated', async () => {
      await journals.write('"a"');
      for (const shard of SHARDS) await journals.replace(shard);
      expect((await refusal((await journals.store()).prepare())).exitCode).toBe(EXIT.damaged);
      for (const shard of SHARDS) await (await journals.topics.prepare(shard)).close();
      expect((await refusal((await journals.store()).prepare())).message).toContain('is gone, or empty');
      expect(await journals.content(0)).toEqual([]);
    });

    it('if the end of one was cut off', async () => {
      await journals.write('"a"', '"b"', '"c"');
      await journals.replace(0, (await journals.content(0)).slice(0, 3));
      const failure = await refusal(journals.owner(0));
      expect([failure.exitCode, failure.message]).toEqual([
        EXIT.damaged,
        expect.stringContaining(
          `topic ${journals.prefix}auction.0 ends with record 3, but this database has seen record 4`,
        ),
      ]);
      expect(await journals.content(0)).toHaveLength(3);
    });

    it('if another journal is there', async () => {
      await journals.write('"a"');
      await journals.replace(0, await journals.content(1));
      expect((await refusal(journals.owner(0))).exitCode).toBe(EXIT.damaged);
      const others = await KeptJournals.begin(kafka(), SHARDS);
      begun.push(others);
      await others.write('"x"', '"y"');
      const values = await others.content(0);
      await journals.replace(0, values);
      const failure = await refusal(journals.owner(0));
      expect(failure.message).toContain('is not the one that this database has seen there');
    });

    it('if only a snapshot knows how far one had come', async () => {
      await journals.write('"a"', '"b"');
      const [entry] = await (await journals.store()).reader.read(0, 3, 1);
      await journals.database.pool.query(
        `update journal.witness set sequence = 1, epoch = null, log_offset = null where shard = 0`,
      );
      await journals.database.pool.query(
        `insert into journal.snapshots values ('auction', 0, 3, decode($1, 'hex'), 1, '')`,
        [entry!.hash],
      );
      await journals.replace(0, (await journals.content(0)).slice(0, 2));
      expect((await refusal(journals.owner(0))).message).toContain('record 3');
    });
  });

  it('are not taken for the journals of a new database if they are in another cluster', async () => {
    await journals.write('"a"');
    journals = await journals.besideAnother();
    begun.push(journals);
    const own = await journals.store();
    for (const start of [own.prepare(), journals.owner(0, own)]) {
      const failure = await refusal(start);
      expect(failure.exitCode).toBe(EXIT.damaged);
      expect(failure.message).toContain(
        `topic ${journals.prefix}auction.0 holds a journal, but this database has never`,
      );
    }
    expect([await backends(), await seenRecords()]).toEqual([[], new Map()]);
    expect(await journals.content(0)).toHaveLength(2);
    expect([await own.reader.heads(), await own.reader.read(0, 1, WHOLE)]).toEqual([new Map(), []]);
    await expect(own.reader.entries(0, [1])).rejects.toThrow(
      'the database has no checkpoint of the journal of shard 0 yet',
    );
    // Not even because of an empty topic that an earlier start found without settling the backend.
    const empty = `insert into journal.witness select 'auction', shard, 0, decode($1, 'hex') from generate_series(0, 1) as shard`;
    await journals.database.pool.query(empty, [GENESIS]);
    expect((await refusal(own.prepare())).message).toContain('never');
  });

  it.each([
    ['created', 0],
    ['written to', 1],
  ])('begin although an owner ended when the first topic had just been %s', async (_, records) => {
    await (await journals.store()).prepare();
    if (records > 0) await journals.write('"a"');
    await journals.database.pool.query(`update journal.witness set sequence = 0, hash = decode($1, 'hex')`, [
      GENESIS,
    ]);
    await journals.write('"b"');
    const events = (await everything((await journals.store()).reader, 0)).filter(
      ({ kind }) => kind === 'event',
    );
    expect(events.at(-1)!.payload).toBe('"b"');
    expect(events).toHaveLength(1 + records);
  });

  describe('get their backend settled', () => {
    it('by no refused start', async () => {
      await (await journals.topics.prepare(1)).close();
      await spoil(1);
      expect((await refusal((await journals.store()).prepare())).message).toContain('cannot keep a journal');
      await refusal(journals.owner(1));
      const noBroker = loadConfig(kafkaSettings, {
        KAFKA_BROKERS: '127.0.0.1:1',
        KAFKA_TOPIC_PREFIX: journals.prefix,
      });
      await refusal((await journals.store({ settings: noBroker })).prepare());
      expect([await backends(), await seenRecords(), await journals.topics.exists(0)]).toEqual([
        [],
        new Map(),
        false,
      ]);
    });

    it('in one backend only, however many owners begin at once', async () => {
      const elsewhere = `${journals.prefix}elsewhere.`;
      const candidates = [journals.settings(), journals.settings(elsewhere), loadConfig(kafkaSettings, {})];
      const starts = await Promise.allSettled(
        candidates.map(async (candidate, shard) =>
          journals.owner(shard % 2, await journals.store({ settings: candidate })),
        ),
      );
      const going = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
      expect(going).toHaveLength(1);
      for (const start of starts) {
        if (start.status === 'rejected') expect(start.reason).toMatchObject({ exitCode: EXIT.config });
      }
      await Promise.all(going.map((writer) => writer.close()));
      const inPostgres = (await journals.database.pool.query('select from journal.records')).rowCount === 1;
      expect(await backends()).toHaveLength(inPostgres ? 0 : 1);
    });
  });

  describe('are not shown', () => {
    it.each([
      ['gone', 0],
      ['cut off', 2],
    ])(
      'by a process that serves them, if one is %s; a tool that examines them still reads them',
      async (_, left) => {
        await journals.write('"a"', '"b"');
        const values = await journals.content(0);
        await journals.replace(0, left === 0 ? undefined : values.slice(0, left));
        const { reader, bareReader } = await journals.store();
        for (const question of [reader.heads(), reader.read(0, 1, 1), reader.entries(0, [1])]) {
          expect((await refusal(question)).message).toContain('has seen record 3');
        }
        expect(await reader.read(1, 1, WHOLE)).toHaveLength(3);
        expect((await bareReader.heads()).get(0) ?? 0).toBe(left);
        await journals.replace(0, values);
        const healed = (await journals.store()).reader;
        expect((await healed.heads()).get(0)).toBe(3);
      },
    );

    it('by a process that has read them already, if another topic replaces one', async () => {
      await journals.write('"a"', '"b"');
      const { reader } = await journals.store();
      expect((await reader.heads()).get(0)).toBe(3);
      const values = await journals.content(0);
      await journals.replace(0, values.slice(0, 2));
      await expect(reader.heads()).rejects.toThrow('ends at 2, before what was read');
    });
  });

  it('are not moved if they are lost, and the copy in Kafka that a move left gets checkpoints when the journals return', async () => {
    await journals.write('"a"', '"b"');
    const move = async (from: StoreKind, to: StoreKind) =>
      moveJournals({
        family: 'auction',
        from: await journals.store({ kind: from }),
        to: await journals.store({ kind: to }),
        databaseUrl: journals.database.url,
        clock,
        shards: SHARDS,
        opener: 'mover',
      });
    const values = await journals.content(1);
    await journals.replace(1);
    expect((await refusal(move('kafka', 'postgres'))).exitCode).toBe(EXIT.damaged);
    expect(await journals.topics.exists(1)).toBe(false);
    await journals.replace(1, values);
    await move('kafka', 'postgres');
    const left = await seenRecords();
    expect(left.get(1)!.sequence).toBe(4);
    // The copy that is left in Kafka may be lost: the journals were moved away, and are copied in full.
    await journals.replace(0);
    const moved = await move('postgres', 'kafka');
    for (const { shard, records, hash } of moved) {
      expect((await seenRecords()).get(shard)).toEqual({ sequence: records, hash });
      expect(records).toBeGreaterThan(left.get(shard)!.sequence);
    }
    await journals.write('"c"');
  });
});
