import { afterAll } from '@jest/globals';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import type { KafkaAddress } from '#libs/journal/kafka/kafkajs/kafka-address.js';
import { KafkajsTopics } from '#libs/journal/kafka/kafkajs/kafkajs-topics.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import type { TestKafka } from '#libs/testing/kafka/test-kafka.js';

const clock = new SystemClock();

export function topicsAt(
  { addresses, prefix }: TestKafka,
  address: Partial<KafkaAddress> = {},
): KafkajsTopics {
  return new KafkajsTopics({ brokers: addresses, clientId: 'test', ...address }, prefix, clock);
}

const readers: KafkaJournalReader[] = [];
afterAll(() => Promise.all(readers.splice(0).map((reader) => reader.close())));

/** It is closed when the file is done: brokers that others use too would keep its connections open. */
export function readerAt(kafka: TestKafka): KafkaJournalReader {
  const topics = topicsAt(kafka);
  const reader = new KafkaJournalReader({ openLog: (shard) => topics.open(shard), shards: [] });
  readers.push(reader);
  return reader;
}

export function journalAt(kafka: TestKafka, address: Partial<KafkaAddress> = {}): KafkaJournal {
  const topics = topicsAt(kafka, address);
  return new KafkaJournal({
    openLog: async (shard) => {
      await (await topicsAt(kafka).prepare(shard)).close();
      return topics.open(shard);
    },
    clock,
    opener: 'test',
    // A proxy that loses something is to be found out soon.
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

/** The broker that leads the shard's topic just now. */
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
