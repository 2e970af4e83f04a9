import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { LogMessage } from '#libs/journal/kafka/topic-log.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { deleteBefore } from './access.js';

jest.setTimeout(120_000);

const KEY = Buffer.alloc(32, 7);
const SHARDS = [0, 1, 2];
const SHARD = 1;
/** After an epoch record and an event: the last record of an append of two, which has its seal. The one before has none. */
const SEALED = 3;
const UNSEALED = 2;
/** The move's epoch record comes after it. */
const LAST_EVENT = 4;
const FALSE_SEAL = Buffer.alloc(32, 9);
const ALL_RECORDS = 'select * from journal.records order by shard, sequence';
const IS_CORRUPT = `journal: journal of shard ${SHARD} is corrupt at sequence`;
const THERE = 'in the target, the record is there already,';

/** What is wrong, with which record, its seal, and how the tools report it. */
const DIFFERENCES: readonly [string, number, Buffer | undefined, string, string][] = [
  [
    'has lost a seal',
    SEALED,
    undefined,
    'without its seal',
    'the same record has a seal in HOME and none in COPY',
  ],
  [
    'has a false seal',
    SEALED,
    FALSE_SEAL,
    'with another seal',
    'the same record has another seal in kafka than in postgres',
  ],
  [
    'has a seal too many',
    UNSEALED,
    FALSE_SEAL,
    'with a seal that it does not have here',
    'the same record has a seal in COPY and none in HOME',
  ],
];

describeWithKafka('npm run journal on two copies of the journals', { anyBrokers: true }, (kafka) => {
  let journals: KeptJournals;
  const journal = (args: string): Promise<ToolRun> =>
    runTool('apps/cli/main.js journal', args.split(' '), {
      DATABASE_URL: journals.database.url,
      ID_KEY: KEY.toString('hex'),
      KAFKA_BROKERS: kafka().addresses.join(','),
      KAFKA_TOPIC_PREFIX: journals.prefix,
    });
  const copy = (from: string, to: string): Promise<ToolRun> => journal(`copy --from ${from} --to ${to}`);
  const all = async (): Promise<unknown[]> => [
    (await journals.database.pool.query(ALL_RECORDS)).rows,
    await Promise.all(SHARDS.map((shard) => journals.content(shard))),
  ];
  const lose = (before: number): Promise<void> =>
    deleteBefore({ ...kafka(), prefix: journals.prefix }, SHARD, before);
  /** Half a copy, with unchanged records. */
  const sealTopic = async (sequence: number, seal: Buffer | undefined): Promise<void> => {
    const messages = (await journals.content(SHARD)).slice(0, SEALED);
    const changed = ({ offset, value }: LogMessage): LogMessage => ({ offset, value, seal });
    await journals.replace(
      SHARD,
      messages.map((message) => (message.offset === sequence - 1 ? changed(message) : message)),
    );
  };
  const sealRow = async (sequence: number, seal: Buffer | undefined): Promise<void> => {
    const { pool } = journals.database;
    await pool.query('delete from journal.records where shard = $1 and sequence > $2', [SHARD, SEALED]);
    const sealing = 'update journal.records set seal = $3 where shard = $1 and sequence = $2';
    await pool.query(sealing, [SHARD, sequence, seal ?? null]);
  };

  beforeEach(async () => {
    journals = await KeptJournals.begin(kafka(), SHARDS, allMigrations);
    const store = await journals.store({ kind: 'postgres' });
    for (const shard of SHARDS) {
      const writer = await journals.owner(shard, store);
      await writer.append(['"a"', '"b"']);
      await writer.append(['"c"']);
      await writer.close();
    }
    await journals.close();
    expect(await copy('postgres', 'kafka')).toMatchObject({ code: 0 });
  });
  afterEach(() => journals.dispose());

  it('completes a sound half of a copy, and verify then finds it SOUND', async () => {
    await sealRow(SEALED, (await journals.content(SHARD))[SEALED - 1]!.seal);
    const { code, output } = await copy('kafka', 'postgres');
    expect([code, output]).toEqual([0, expect.stringContaining(`${SEALED} of them already there`)]);
    expect(await journal('verify --store postgres --chain-only')).toMatchObject({
      code: 0,
      output: expect.stringContaining('SOUND'),
    });
  });

  it.each(DIFFERENCES.slice(1))(
    'refuses a half copy in PostgreSQL that %s, and writes nothing',
    async (_, sequence, seal, said, compared) => {
      await sealRow(sequence, seal);
      const before = await all();
      const { code, errors } = await copy('kafka', 'postgres');
      expect([code, errors]).toEqual([1, `${IS_CORRUPT} ${sequence}: ${THERE} ${said}\n`]);
      expect(await all()).toEqual(before);
      const told = compared.replace('HOME', 'kafka').replace('COPY', 'postgres');
      expect(await journal('compare')).toMatchObject({
        code: 1,
        output: expect.stringContaining(
          `shard ${SHARD}: ${sequence - 1} records alike, then they DIFFER at sequence ${sequence}: ${told}\n`,
        ),
      });
    },
  );

  it.each(DIFFERENCES.slice(0, 1))(
    'refuses a half copy in Kafka that %s, and writes nothing',
    async (_, sequence, seal, said, compared) => {
      expect(await copy('kafka', 'postgres')).toMatchObject({ code: 0 });
      await sealTopic(sequence, seal);
      const before = await all();
      const { code, errors } = await copy('postgres', 'kafka');
      expect([code, errors]).toEqual([1, `${IS_CORRUPT} ${sequence}: ${THERE} ${said}\n`]);
      expect(await all()).toEqual(before);
      const told = compared.replace('HOME', 'postgres').replace('COPY', 'kafka');
      const { output } = await journal('compare');
      expect(output).toContain(`then they DIFFER at sequence ${sequence}: ${told}\n`);
      const { shards } = JSON.parse((await journal('compare --output json')).output) as { shards: unknown[] };
      expect(shards[SHARD]).toMatchObject({ differs_at: sequence, differs_in: 'seal' });
    },
  );

  it('says which of two journals has a damaged record, and which record it is', async () => {
    const { pool } = journals.database;
    await pool.query(`update journal.records set payload = '"x"' where shard = $1 and sequence = 2`, [SHARD]);
    const hash = 'its hash is not that of its content and of the record before';
    expect(await copy('kafka', 'postgres')).toMatchObject({
      code: 1,
      errors: `${IS_CORRUPT} 2: in the target, ${hash}\n`,
    });
    await pool.query('delete from journal.records where shard = $1', [SHARD]);
    const messages = await journals.content(SHARD);
    const { value } = messages[LAST_EVENT - 1]!;
    value[value.length - 2]! ^= 1;
    await journals.replace(SHARD, messages);
    expect(await copy('kafka', 'postgres')).toMatchObject({
      code: 1,
      errors: `${IS_CORRUPT} ${LAST_EVENT}: ${hash}\n`,
    });
  });

  it('names a missing topic, writes nothing, and does not create it', async () => {
    const rows = async (): Promise<unknown[]> =>
      (await journals.database.pool.query<Record<string, unknown>>(ALL_RECORDS)).rows;
    const before = await rows();
    await journals.replace(SHARD);
    const { code, errors } = await copy('kafka', 'postgres');
    const said = `journal: shard ${SHARD}: topic ${journals.prefix}auction.${SHARD} is gone, or empty, but this database has seen record ${LAST_EVENT + 1} in it`;
    expect([code, errors]).toEqual([65, expect.stringContaining(said)]);
    expect(errors.trim().split('\n')).toHaveLength(1);
    expect(await rows()).toEqual(before);
    const lack = `shard ${SHARD}: it ends at 0, but this database has seen record ${LAST_EVENT + 1}`;
    expect(await journal('dump')).toMatchObject({ code: 1, errors: `journal: ${lack}\n` });
    expect(await journal(`dump --shard ${SHARD}`)).toMatchObject({ code: 1, output: '' });
    expect(await journal('dump --shard 0')).toMatchObject({ code: 0, errors: '' });
    await journals.database.pool.query('delete from journal.records where shard = $1', [SHARD]);
    const compared = await journal('compare');
    expect([compared.code, compared.output]).toEqual([1, expect.stringContaining(`${lack}, in kafka`)]);
    expect(await journals.topics.exists(SHARD)).toBe(false);
  });

  it.each([
    ['some', 2, 2],
    ['all', -1, 5],
  ])(
    'names a topic that has lost %s of its first messages, as the source and as the copy',
    async (_, before, lost) => {
      await lose(before);
      const said = (gone: number): string =>
        `journal: topic ${journals.prefix}auction.${SHARD} has lost its journal: its first ${gone} messages are gone, restore the topic as it was\n`;
      const fromThere = await copy('kafka', 'postgres');
      expect([fromThere.code, fromThere.errors]).toEqual([65, said(lost)]);
      await journals.database.pool.query('delete from journal.home');
      const thereto = await copy('postgres', 'kafka');
      expect([thereto.code, thereto.errors]).toEqual([65, said(lost)]);
    },
  );
});
