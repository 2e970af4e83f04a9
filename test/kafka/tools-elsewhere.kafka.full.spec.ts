import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { eventually } from '#libs/testing/eventually.js';
import { KeptJournals } from '#libs/testing/kafka/kept-journals.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';

jest.setTimeout(60_000);

const SHARDS = [0, 1, 2];
const NOBODY = '127.0.0.1:1';

describeWithKafka('tools that are directed to the wrong storage', { anyBrokers: true }, (kafka) => {
  let journals: KeptJournals;
  beforeAll(async () => {
    journals = await KeptJournals.begin(kafka(), SHARDS, allMigrations);
    await journals.write('"a"');
  });
  afterAll(() => journals.dispose());

  const run = (tool: string, args: string, env: Readonly<Record<string, string>> = {}): Promise<ToolRun> =>
    runTool(`apps/cli/main.js ${tool}`, args.split(' '), {
      DATABASE_URL: journals.database.url,
      KAFKA_BROKERS: kafka().addresses.join(','),
      KAFKA_TOPIC_PREFIX: journals.prefix,
      ...env,
    });
  const expectFault = (ended: ToolRun, code: number, said: string): void => {
    const lines = ended.errors.trim().split('\n');
    expect([ended.code, ended.output, lines.at(-1)]).toEqual([code, '', expect.stringContaining(said)]);
    expect(ended.errors).not.toContain('    at ');
  };

  it.each(['verify --chain-only', 'dump', 'compare'])(
    'journal -- %s shows nothing of another Kafka, nor of other topics: 78',
    async (args) => {
      expectFault(
        await run('journal', args, { KAFKA_TOPIC_PREFIX: 'others.' }),
        78,
        'set KAFKA_TOPIC_PREFIX',
      );
      const { pool } = journals.database;
      const { rows } = await pool.query<{ id: string }>('select cluster_id as id from journal.home');
      await pool.query(`update journal.home set cluster_id = 'another'`);
      try {
        expectFault(await run('journal', args), 78, 'are in Kafka cluster another');
      } finally {
        await pool.query('update journal.home set cluster_id = $1', [rows[0]?.id]);
      }
    },
  );

  it('journal -- compare is unchanged at the right storage', async () => {
    const { code, output } = await run('journal', 'compare');
    expect([code, output]).toEqual([0, expect.stringContaining('0 more in postgres, 2 in kafka')]);
  });

  it('journal -- compare of journals in PostgreSQL finds no copy in empty topics: 78', async () => {
    const left = await KeptJournals.begin(kafka(), SHARDS, allMigrations);
    try {
      for (const shard of SHARDS) {
        const writer = await (await left.store({ kind: 'postgres' })).journalOf('owner').open(shard);
        await writer.close();
      }
      const place = { DATABASE_URL: left.database.url, KAFKA_TOPIC_PREFIX: left.prefix };
      expectFault(await run('journal', 'compare', place), 78, 'Kafka has no journal in these topics');
      expectFault(await run('journal', 'verify --store kafka', place), 78, 'Kafka has no copy of them');
    } finally {
      await left.dispose();
    }
  });

  it('journal -- verify of a PostgreSQL without a copy does not report it sound: 78', async () => {
    const { code, errors } = await run('journal', 'verify --store postgres --chain-only');
    expect([code, errors]).toEqual([78, expect.stringContaining('PostgreSQL has no copy of them')]);
  });

  it('journal -- copy refuses journals that lack records known to the database', async () => {
    const cut = await KeptJournals.begin(kafka(), SHARDS, allMigrations);
    try {
      const records = async (): Promise<number | null> =>
        (await cut.database.pool.query('select from journal.records')).rowCount;
      const store = await cut.store({ kind: 'postgres' });
      for (const shard of SHARDS) {
        const writer = await store.journalOf('owner').open(shard);
        await writer.append(['"a"', '"b"']);
        await writer.close();
      }
      await store.close();
      await cut.database.pool.query(
        `insert into auction_history.projection_offsets (shard, epoch, sequence, hash) values (1, 1, 7, sha256('x'))`,
      );
      const before = await records();
      const place = { DATABASE_URL: cut.database.url, KAFKA_TOPIC_PREFIX: cut.prefix };
      const copy = 'copy --from postgres --to kafka';
      expectFault(await run('journal', copy, place), 1, 'it ends at 3, but projections know record 7');
      expect(await records()).toBe(before);
      await cut.database.pool.query(
        'update auction_history.projection_offsets set sequence = 3 where shard = 1',
      );
      expectFault(await run('journal', copy, place), 1, 'record 3 is not the one from which');
      await cut.database.pool.query('delete from auction_history.projection_offsets');
      await cut.database.pool.query('insert into risk.shard_fence values (2, 5)');
      expectFault(
        await run('journal', copy, place),
        1,
        'it ends in epoch 1, but reservations were made in epoch 5',
      );
      await cut.database.pool.query('delete from risk.shard_fence');
      await cut.database.pool.query(
        `insert into journal.witness (family, shard, sequence, hash) values ('auction', 0, 9, sha256('x'))`,
      );
      expectFault(await run('journal', copy, place), 1, 'it ends at 3, but this database has seen record 9');
      expect(await records()).toBe(before);
    } finally {
      await cut.dispose();
    }
  });

  it('journal -- verify --chain-only and compare report journals that have disappeared', async () => {
    const lost = await KeptJournals.begin(kafka(), SHARDS, allMigrations);
    try {
      await lost.write('"a"');
      for (const shard of SHARDS) {
        await lost.topics.remove(shard);
        await eventually(async () => expect(await lost.topics.exists(shard)).toBe(false));
        await (await lost.topics.prepare(shard)).close();
      }
      const place = { DATABASE_URL: lost.database.url, KAFKA_TOPIC_PREFIX: lost.prefix };
      const { code, output } = await run('journal', 'verify --chain-only', place);
      expect([code, output]).toEqual([
        1,
        expect.stringContaining(
          'shard 2: it ends at 0, but this database has seen record 2\n' +
            'shard 2: it ends at 0, but is known to be sealed from 1 on\nDAMAGED',
        ),
      ]);
      expectFault(await run('journal', 'compare', place), 78, 'Kafka has no journal in these topics');
    } finally {
      await lost.dispose();
    }
  });

  it.each(['lag', 'rebuild'])(
    'projection -- %s reports in one line that Kafka does not answer: 69; or is another: 78',
    async (command) => {
      expectFault(await run('projection', command, { KAFKA_BROKERS: NOBODY }), 69, 'cannot be used');
      expectFault(
        await run('projection', command, { KAFKA_TOPIC_PREFIX: 'others.' }),
        78,
        'set KAFKA_TOPIC_PREFIX',
      );
    },
  );
});
