import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { pickPortRange } from '#libs/platform/supervision/ports.js';
import type { OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { deleteBefore, topicsAt } from './access.js';
import { ClusterOnKafka } from './cluster-on-kafka.js';

jest.setTimeout(240_000);

const SHARDS = [0, 1, 2];

describeWithKafka('a cluster whose topics', { anyBrokers: true }, (kafka) => {
  let site: ClusterOnKafka;
  let cluster: OwnedCluster;
  const tool = (...args: string[]): Promise<ToolRun> => site.journal(...args);
  const logOf = (name: string): string => site.logOf(name);
  const readiness = (name: string): Promise<unknown> => site.readiness(name);
  /** A start that is refused: its exit code, and the text of its reason. */
  const refusal = async (env: Readonly<Record<string, string>>): Promise<[number | null, string[]]> => {
    const PORT = String(await pickPortRange(1));
    const { code, errors, output } = await runTool('apps/launcher/main.js', [], {
      DATA_DIR: site.dataDir,
      PORT,
      ...env,
    });
    expect(output).not.toContain('processes started');
    return [code, errors.trim().split('\n')];
  };
  beforeAll(async () => {
    site = await ClusterOnKafka.start(kafka(), 'lost-topics');
    ({ cluster } = site);
  }, 200_000);
  afterAll(() => site.end());

  it("are intact, but one lacks records that its database has seen, starts after the runbook's steps", async () => {
    const database = new pg.Client({ connectionString: cluster.file.database_url });
    await database.connect();
    const runbook = readFileSync('docs/operate/kafka.md', 'utf8');
    const [, question = '', remedy = ''] =
      /A checkpoint ahead of its topic\.\*\*[^]*?```sql\n([^]*?)```[^]*?```sql\n([^]*?)```/.exec(runbook) ??
      [];
    const { output } = await tool('dump', '--shard', '1');
    const last = JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<
      'sequence' | 'epoch' | 'hash',
      string
    >;
    const mend = remedy.replaceAll(/:('?)([a-z]+)\1/g, (_, quote: string, name: string) => {
      const value = { shard: 1, ...last }[name] ?? '';
      return `${quote}${value}${quote}`;
    });
    const falsities = [
      [
        'update journal.witness set sequence = sequence + 100, log_offset = log_offset + 100 where shard = 1',
        'has seen record',
      ],
      [
        'update journal.witness set log_offset = log_offset + 100 where shard = 1',
        'at another offset than this database has seen',
      ],
      ['delete from journal.witness where shard = 1', 'has never seen a record'],
      // Everything that its login can do to a lost topic.
      [
        `update journal.witness set sequence = sequence + 100, log_offset = log_offset + 100, hash = sha256('x') where shard = 1;
         insert into journal.snapshots (family, shard, sequence, hash, format_version, body)
           select 'auction', shard, sequence, hash, 1, 'x' from journal.witness where shard = 1;
         update risk.shard_fence set epoch = epoch + 7 where shard = 1`,
        'has seen record',
      ],
    ];
    for (const [falsity = '', said = ''] of falsities) {
      await database.query(falsity);
      const { rows } = await database.query(question);
      expect(rows.length).toBeGreaterThanOrEqual(2);
      cluster.kill('owner-1');
      await eventually(() => expect(logOf('owner-1')).toMatch(new RegExp(`"exit_code":65.*${said}`)), 60_000);
      await database.query(mend);
      await eventually(async () => expect(await readiness('owner-1')).toEqual({ status: 'ready' }), 60_000);
    }
    await database.end();
    expect((await tool('verify')).output).toContain('SOUND');
  });

  it('lose one while it runs says so, and does not create it again', async () => {
    await topicsAt(kafka()).remove(1);
    await eventually(async () => {
      expect(await readiness('projector')).toEqual({ status: 'journal_unreadable' });
    }, 30_000);
    const former = cluster.kill('owner-1');
    await eventually(() => {
      expect(logOf('owner-1')).toMatch(
        /"exit_code":65.*is gone, or empty, but this database has seen record/,
      );
    }, 60_000);
    expect(cluster.process('owner-1').pid).not.toBe(former);
    const projector = cluster.kill('projector');
    await eventually(() => expect(cluster.process('projector').pid).not.toBe(projector));
    await eventually(async () =>
      expect(await readiness('projector')).toEqual({ status: 'journal_unreadable' }),
    );
    cluster.kill('gateway-0');
    await eventually(
      () => expect(logOf('gateway-0')).toMatch(/shard 1: topic .* is gone, or empty.*"exitCode":65/),
      60_000,
    );
    expect(await topicsAt(kafka()).exists(1)).toBe(false);
  });

  it('lose their first messages while it runs ends only the owner concerned, which says so', async () => {
    const other = cluster.process('owner-0').pid;
    await deleteBefore(kafka(), 2, 1);
    await eventually(() => {
      expect(logOf('owner-2')).toMatch(/"exit_code":65.*has lost its journal: its first 1 messages are gone/);
    }, 60_000);
    expect(await readiness('owner-0')).toEqual({ status: 'ready' });
    expect(cluster.process('owner-0').pid).toBe(other);
    const { output } = await tool('verify', '--chain-only');
    expect(output).toMatch(/^shard 0: .*chain whole/m);
    expect(output).toMatch(/^shard 2: .*its first 1 messages are gone/m);
    await cluster.stop();
  });

  it('are gone is not started, and no new journals are created', async () => {
    for (const shard of [0, 2]) await topicsAt(kafka()).remove(shard);
    const [code, lines] = await refusal(site.settings);
    expect([code, lines]).toEqual([
      65,
      [
        expect.stringMatching(
          `shard 0: topic ${kafka().prefix}auction.0 is gone, or empty, but this database has seen`,
        ),
      ],
    ]);
    for (const shard of SHARDS) expect(await topicsAt(kafka()).exists(shard)).toBe(false);
    const journalsAlone = await tool('verify', '--chain-only');
    const gone = expect.stringMatching(/shard 0: it ends at 0, but this database has seen record \d/);
    expect([journalsAlone.code, journalsAlone.output]).toEqual([1, gone]);
    const whole = await tool('verify');
    expect([whole.code, whole.output]).toEqual([1, gone]);
  });

  it('are not configured, or only by a typing error, is not started on PostgreSQL', async () => {
    expect(await refusal({})).toEqual([78, [expect.stringContaining('the journals are in Kafka')]]);
    expect(await refusal({ KAFKA_BROKERS: '' })).toEqual([
      78,
      ['sotto: KAFKA_BROKERS="" is wrong: it must not be empty'],
    ]);
    expect(await refusal({ KAFKA_SSL: 'true' })).toEqual([
      78,
      [expect.stringContaining('KAFKA_BROKERS is not set')],
    ]);
  });
});
