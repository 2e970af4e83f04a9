import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { afterEach, expect, it, jest } from '@jest/globals';
import type { Broker } from '#libs/platform/embedded-kafka/broker.js';
import { everything } from '#libs/testing/contracts/journal-subject.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka, type TestKafka } from '#libs/testing/kafka/test-kafka.js';
import { leaderOf, readerAt, topicsAt, withAdmin } from './access.js';
import { expectTruth, WriterProcess } from './writers.js';

jest.setTimeout(240_000);

const started: WriterProcess[] = [];

/** Failures are noticed sooner than in production; nothing else changes. */
const SETTINGS = { 'broker.session.timeout.ms': '2000', 'broker.heartbeat.interval.ms': '400' };

describeWithKafka('three brokers', { brokers: 3, settings: () => SETTINGS }, (kafka) => {
  afterEach(async () => {
    await Promise.all(started.splice(0).map((writer) => writer.kill()));
  });

  const start = (shard: number, name: string): WriterProcess => {
    const writer = WriterProcess.start(kafka(), shard, name, { records: 5, pauseMillis: 1 });
    started.push(writer);
    return writer;
  };

  it('keep three copies of a journal, two of them before any acknowledgement', async () => {
    await (await topicsAt(kafka()).prepare(1)).close();
    const name = topicsAt(kafka()).nameOf(1);
    const [topics, described] = await withAdmin(kafka(), async (admin) => [
      await admin.fetchTopicMetadata({ topics: [name] }),
      await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }],
      }),
    ]);
    expect(topics.topics[0]?.partitions.map(({ replicas }) => replicas.length)).toEqual([3]);
    const settings = new Map(
      described.resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
    expect(settings.get('min.insync.replicas')).toBe('2');
    expect(settings.get('retention.ms')).toBe('-1');
    expect(settings.get('unclean.leader.election.enable')).toBe('false');
  });

  it('are asked in turn if one hangs, even the first in the list', async () => {
    const [hung] = kafka().own!.brokers;
    const topics = topicsAt(kafka());
    await (await topics.prepare(4)).close();
    hung!.signal('SIGSTOP');
    try {
      await (await topics.openFit(4)).close();
      // The broker that answered is asked first from then on.
      const began = performance.now();
      await (await topics.openFit(4)).close();
      expect(performance.now() - began).toBeLessThan(10_000);
    } finally {
      hung!.signal('SIGCONT');
    }
  });

  it('are counted as configured, if one is down and another was not named', async () => {
    const { addresses, own } = kafka();
    const topics = topicsAt(kafka(), { brokers: addresses.slice(0, 1) });
    const away = own!.brokers[2]!;
    away.signal('SIGKILL');
    await away.gone();
    try {
      await eventually(async () => {
        const { brokers } = await withAdmin(kafka(), (admin) => admin.describeCluster());
        expect(brokers).toHaveLength(2);
      }, 30_000);
      // The named broker may refer clients to the other until it knows that that one is gone.
      await eventually(async () => (await topics.prepare(5)).close(), 30_000);
      const { topics: made } = await withAdmin(kafka(), (admin) =>
        admin.fetchTopicMetadata({ topics: [topics.nameOf(5)] }),
      );
      expect(made[0]?.partitions.map(({ replicas }) => replicas.length)).toEqual([3]);
    } finally {
      await away.start();
      await own!.untilUsable();
    }
  });

  it('go on when the leader is killed in mid-append, and lose nothing', async () => {
    const writer = start(2, 'writer');
    const reader = readerAt(kafka());
    await writer.untilWritten(200);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const leader = await leadingBroker(kafka(), 2);
      leader.signal(signal);
      await leader.gone();
      await writer.untilWritten(500);
      await leader.start();
      await kafka().own!.untilUsable();
      await inSync(kafka(), 2);
    }
    writer.signal('SIGSTOP');
    await sleep(300);
    expectTruth(await everything(reader, 2), [writer]);
    await reader.close();
  });

  it('depose a silent leader; its copy of the current batch counts once', async () => {
    const writer = start(3, 'writer');
    await writer.untilWritten(200);
    const leader = await leadingBroker(kafka(), 3);
    leader.signal('SIGSTOP');
    await writer.untilWritten(500);
    leader.signal('SIGCONT');
    await inSync(kafka(), 3);
    await writer.untilWritten(500);
    writer.signal('SIGSTOP');
    await sleep(300);
    const reader = readerAt(kafka());
    expectTruth(await everything(reader, 3), [writer]);
    await reader.close();
  });
});

async function leadingBroker(kafka: TestKafka, shard: number): Promise<Broker> {
  const { nodeId } = await leaderOf(kafka, shard);
  return kafka.own!.brokers.find(({ place }) => place.id === nodeId)!;
}

async function inSync(kafka: TestKafka, shard: number): Promise<void> {
  await eventually(async () => {
    const { topics } = await withAdmin(kafka, (admin) =>
      admin.fetchTopicMetadata({ topics: [topicsAt(kafka).nameOf(shard)] }),
    );
    expect(topics[0]?.partitions[0]?.isr.length).toBe(3);
  }, 90_000);
}
