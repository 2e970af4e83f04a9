import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it, jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import type { KafkaAddress } from '#libs/journal/kafka/kafkajs/kafka-address.js';
import type { Right } from '#libs/journal/kafka/kafkajs/rights.js';
import type { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import type { BrokerPlace } from '#libs/platform/embedded-kafka/server-properties.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { events } from '#libs/testing/contracts/journal-subject.js';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { topicsAt, withAdmin } from './access.js';

jest.setTimeout(120_000);

const SHARD = 1;
const clock = new SystemClock();
const [port = 0] = await pickPorts(1);
const USERS = ['owner', 'reader', 'writer', 'nobody'];
const SHARDS = [0, 1, 2];
const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** The plain listener allows everything; the other one needs rights. */
function withRights(place: BrokerPlace): Record<string, string> {
  const { host, controllerPort } = place;
  const users = USERS.map((user) => `user_${user}="secret"`).join(' ');
  return {
    listeners: `PLAINTEXT://${host}:${place.port},CONTROLLER://${host}:${controllerPort},NAMED://${host}:${port}`,
    'advertised.listeners': `PLAINTEXT://${host}:${place.port},NAMED://${host}:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,NAMED:SASL_PLAINTEXT',
    'listener.name.named.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.named.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required ${users};`,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
  };
}

describeWithKafka('a user of brokers with access rights', { settings: withRights }, (kafka) => {
  const topicsOf = (username: string): KafkajsTopics => {
    const sasl: KafkaAddress['sasl'] = { mechanism: 'plain', username, password: 'secret' };
    return topicsAt({ ...kafka(), addresses: [`127.0.0.1:${port}`] }, { sasl });
  };
  const allow = (user: string, ...rights: Right[]): Promise<void> =>
    allowOn(topicsAt(kafka()).nameOf(SHARD), user, ...rights);
  const set = async (
    topic: string,
    user: string,
    permission: 'ALLOW' | 'DENY',
    rights: Right[],
  ): Promise<void> => {
    const acl = rights.map((right) => ({
      resourceType: AclResourceTypes.TOPIC,
      resourceName: topic,
      resourcePatternType: ResourcePatternTypes.LITERAL,
      principal: `User:${user}`,
      host: '*',
      operation: AclOperationTypes[right],
      permissionType: AclPermissionTypes[permission],
    }));
    await withAdmin(kafka(), (admin) => admin.createAcls({ acl }));
  };
  const allowOn = (topic: string, user: string, ...rights: Right[]): Promise<void> =>
    set(topic, user, 'ALLOW', rights);
  const forbidOn = (topic: string, user: string, ...rights: Right[]): Promise<void> =>
    set(topic, user, 'DENY', rights);
  const lacks = (right: string): object => ({
    exitCode: 69,
    message: expect.stringContaining(`no right to ${right} on topic ${topicsAt(kafka()).nameOf(SHARD)} (`),
  });
  const journalOf = (user: string): KafkaJournal => {
    const topics = topicsOf(user);
    return new KafkaJournal({
      family: 'auction',
      openLog: (shard) => topics.prepare(shard),
      clock,
      opener: user,
    });
  };
  const readerOf = (user: string): KafkaJournalReader => {
    const topics = topicsOf(user);
    return new KafkaJournalReader({ family: 'auction', openLog: (shard) => topics.open(shard), shards: [] });
  };

  beforeAll(async () => {
    await allow('owner', 'READ', 'WRITE');
    await allow('reader', 'READ');
  });

  it('gets the name of the right that it lacks to create a topic, and that there is none', async () => {
    await eventually(async () => expect(await topicsOf('owner').exists(SHARD)).toBe(false));
    await expect(topicsOf('owner').prepare(SHARD)).rejects.toMatchObject(lacks('CREATE'));
    await (await topicsAt(kafka()).prepare(SHARD)).close();
  });

  it('needs no such right if the topics exist, and one named right to read their settings', async () => {
    await eventually(async () => expect(await topicsOf('owner').exists(SHARD)).toBe(true));
    await expect(topicsOf('owner').prepare(SHARD)).rejects.toMatchObject(lacks('DESCRIBE_CONFIGS'));
    await allow('owner', 'DESCRIBE_CONFIGS');
    await eventually(async () => (await topicsOf('owner').prepare(SHARD)).close());
    const writer = await journalOf('owner').open(SHARD);
    await writer.append(['"a"']);
    await writer.close();
  });

  it('may read with one right, and gets the name of the one that it lacks to write', async () => {
    const reader = readerOf('reader');
    expect(await events(reader, SHARD)).toEqual(['"a"']);
    await reader.close();
    const log = topicsOf('reader').open(SHARD);
    await expect(log.append([Buffer.from('x')], 5_000)).rejects.toMatchObject({
      name: 'SendRefused',
      isFinal: true,
      message: expect.stringContaining('no right to WRITE on topic'),
    });
    await log.close();
  });

  it('is refused before the start without the right to write, with nothing written, and at once if it had the right', async () => {
    await allow('reader', 'DESCRIBE_CONFIGS');
    const before = await topicsAt(kafka()).open(SHARD).end();
    await eventually(() => expect(topicsOf('reader').prepare(SHARD)).rejects.toMatchObject(lacks('WRITE')));
    const topics = topicsOf('reader');
    const journal = new KafkaJournal({
      family: 'auction',
      openLog: (shard) => Promise.resolve(topics.open(shard)),
      clock,
      opener: 'reader',
      openWithinMillis: 600_000,
    });
    await expect(journal.open(SHARD)).rejects.toMatchObject(lacks('WRITE'));
    expect(await topicsAt(kafka()).open(SHARD).end()).toBe(before);
  });

  it('is refused before the start without the right to read, with nothing written', async () => {
    const topic = topicsAt(kafka()).nameOf(SHARD);
    await allowOn(topic, 'writer', 'WRITE', 'DESCRIBE_CONFIGS');
    const before = await topicsAt(kafka()).open(SHARD).end();
    await eventually(() => expect(topicsOf('writer').prepare(SHARD)).rejects.toMatchObject(lacks('READ')));
    expect(await topicsAt(kafka()).open(SHARD).end()).toBe(before);
  });

  it('without any right gets that answer for everything it does', async () => {
    await expect(topicsOf('nobody').prepare(SHARD)).rejects.toMatchObject(lacks('DESCRIBE'));
    const reader = readerOf('nobody');
    await expect(reader.read(SHARD, 1, 1)).rejects.toThrow('no right to DESCRIBE on topic');
    await allow('nobody', 'DESCRIBE');
    await eventually(() => expect(reader.read(SHARD, 1, 1)).rejects.toThrow('no right to READ on topic'));
    await reader.close();
  });

  it('runs the product on existing topics with the documented rights, and reads with fewer', async () => {
    const prefix = `${kafka().prefix}product.`;
    const topics = topicsAt({ ...kafka(), prefix });
    for (const shard of SHARDS) {
      await (await topics.prepare(shard)).close();
      await allowOn(topics.nameOf(shard), 'owner', 'READ', 'WRITE', 'DESCRIBE_CONFIGS');
      await allowOn(topics.nameOf(shard), 'reader', 'READ');
    }
    const as = (user: string): Record<string, string> => ({
      KAFKA_BROKERS: `127.0.0.1:${port}`,
      KAFKA_TOPIC_PREFIX: prefix,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD: 'secret',
    });
    const cluster = await startCluster({ env: as('owner') });
    const tool = (program: string, command: string) =>
      runTool(`apps/cli/main.js ${program}`, [command], { DATA_DIR: cluster.dataDir, ...as('reader') });
    for (const [program, command] of [
      ['journal', 'verify'],
      ['journal', 'dump'],
      ['journal', 'compare'],
      ['projection', 'compare'],
    ] as const) {
      const { code, errors } = await tool(program, command);
      expect([program, command, code, errors]).toEqual([program, command, 0, errors]);
    }
    const blind = runTool('apps/cli/main.js projection', ['lag'], {
      DATA_DIR: cluster.dataDir,
      ...as('nobody'),
    });
    expect(await blind).toMatchObject({
      code: 69,
      errors: expect.stringMatching(/^projection: .*cannot be read: its user has no right to READ.*\n$/),
    });
    const { pid } = cluster.process('settler');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('KAFKA_');

    await forbidOn(topics.nameOf(SHARD), 'owner', 'READ');
    cluster.kill('gateway-0');
    const log = (): string => readFileSync(path.join(cluster.dataDir, 'logs', 'gateway-0.log'), 'utf8');
    await eventually(
      () => expect(log()).toMatch(/"exit_code":69.*shard 1 cannot be read: its user has no right to READ/),
      30_000,
    );
    await cluster.stop();
  });
});
