import { afterAll, expect } from '@jest/globals';
import kafkajs, { Kafka, logLevel, type Admin } from 'kafkajs';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import type { KafkaAddress } from '#libs/journal/kafka/kafkajs/kafka-address.js';
import { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import type { TestKafka } from '#libs/testing/kafka/test-kafka.js';

const clock = new SystemClock();

export function topicsAt(
  { addresses, prefix }: TestKafka,
  address: Partial<KafkaAddress> = {},
): KafkajsTopics {
  return new KafkajsTopics(
    { brokers: addresses, clientId: 'test', ...address },
    { prefix, family: 'auction' },
    clock,
  );
}

const readers: KafkaJournalReader[] = [];
afterAll(() => Promise.all(readers.splice(0).map((reader) => reader.close())));

/** Closed at the end of the file: shared brokers would keep its connections open. */
export function readerAt(kafka: TestKafka): KafkaJournalReader {
  const topics = topicsAt(kafka);
  const reader = new KafkaJournalReader({
    family: 'auction',
    openLog: (shard) => topics.open(shard),
    shards: [],
  });
  readers.push(reader);
  return reader;
}

export function journalAt(kafka: TestKafka, address: Partial<KafkaAddress> = {}): KafkaJournal {
  const topics = topicsAt(kafka, address);
  return new KafkaJournal({
    family: 'auction',
    openLog: async (shard) => {
      await (await topicsAt(kafka).prepare(shard)).close();
      return topics.open(shard);
    },
    clock,
    opener: 'test',
    // A proxy that loses bytes must be noticed soon.
    ...(address.socketFactory === undefined ? {} : { appendWithinMillis: 500 }),
  });
}

export async function withAdmin<T>({ addresses }: TestKafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const client = new Kafka({ brokers: [...addresses], clientId: 'test', logLevel: logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** The same as retention does, if it is enabled. */
export async function deleteBefore(kafka: TestKafka, shard: number, offset: number): Promise<void> {
  const topic = topicsAt(kafka).nameOf(shard);
  await withAdmin(kafka, async (admin) => {
    // The client knows only topics that it has asked for.
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] });
  });
}

/** The broker that leads the shard's topic now. */
export async function leaderOf(
  kafka: TestKafka,
  shard: number,
): Promise<{ readonly nodeId: number; readonly host: string; readonly port: number }> {
  return await withAdmin(kafka, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topicsAt(kafka).nameOf(shard)] });
    const { brokers } = await admin.describeCluster();
    const leader = brokers.find(({ nodeId }) => nodeId === topics[0]?.partitions[0]?.leader);
    if (leader === undefined) throw new Error(`shard ${shard} has no leader`);
    return leader;
  });
}

/** Settings that are left out go back to the brokers' defaults, so all are named. */
export async function alter(
  kafka: TestKafka,
  shard: number,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const all = {
    'cleanup.policy': 'delete',
    'retention.ms': '-1',
    'retention.bytes': '-1',
    'unclean.leader.election.enable': 'false',
    'compression.type': 'producer',
    'max.message.bytes': '20971520',
    'min.insync.replicas': '1',
    ...settings,
  };
  const name = topicsAt(kafka).nameOf(shard);
  const configEntries = Object.entries(all).map(([entry, value]) => ({ name: entry, value }));
  await withAdmin(kafka, async (admin) => {
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries }],
    });
  });
  // The broker learns it a moment later than the controller.
  await eventually(async () => {
    const described = await withAdmin(kafka, (admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }],
      }),
    );
    const entries = described.resources[0]?.configEntries ?? [];
    const now = new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    for (const [entry, value] of Object.entries(all)) expect([entry, now.get(entry)]).toEqual([entry, value]);
  });
}
