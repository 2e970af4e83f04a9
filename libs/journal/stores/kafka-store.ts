import { JournalHome, type KafkaHome } from '../home/journal-home.js';
import { JournalLock } from '../home/journal-lock.js';
import type { Journal } from '../journal.js';
import { KafkaJournal } from '../kafka/kafka-journal.js';
import { KafkaJournalReader } from '../kafka/kafka-reader.js';
import { KafkaReceiver } from '../kafka/kafka-receiver.js';
import type { KafkaAddress } from '../kafka/kafkajs/kafka-address.js';
import { KafkajsTopics } from '../kafka/kafkajs/kafkajs-topics.js';
import { surveyTopic, type TopicSurvey } from '../kafka/topic-survey.js';
import type { JournalReceiver } from './journal-receiver.js';
import type { JournalStore } from './journal-store.js';
import type { StorePorts } from './store-ports.js';

/** Journals in Kafka, a topic a shard. */
export class KafkaStore implements JournalStore {
  readonly kind = 'kafka';
  readonly reader: KafkaJournalReader;
  private readonly topics: KafkajsTopics;
  private readonly lock: JournalLock;

  constructor(
    private readonly ports: StorePorts,
    address: KafkaAddress,
    private readonly topicPrefix: string,
  ) {
    const { databaseUrl, clock, shards } = ports;
    this.topics = new KafkajsTopics(address, topicPrefix, clock);
    this.reader = new KafkaJournalReader({ openLog: (shard) => this.topics.open(shard), shards });
    this.lock = new JournalLock(databaseUrl, clock);
  }

  journalOf(opener: string): Journal {
    const journal = this.journalOfMover(opener);
    return {
      open: async (shard) => {
        await this.lock.share();
        await this.settle();
        return await journal.open(shard);
      },
    };
  }

  journalOfMover(opener: string): Journal {
    const openLog = this.topics.prepare.bind(this.topics);
    return new KafkaJournal({ openLog, clock: this.ports.clock, opener });
  }

  async prepare(): Promise<void> {
    await this.settle();
    for (const shard of this.ports.shards) await (await this.topics.prepare(shard)).close();
  }

  async home(): Promise<KafkaHome> {
    return { clusterId: await this.topics.clusterId(), topicPrefix: this.topicPrefix };
  }

  receiver(): JournalReceiver {
    return new KafkaReceiver((shard) => this.topics.prepare(shard));
  }

  async survey(shard: number): Promise<TopicSurvey> {
    const log = this.topics.open(shard);
    try {
      return await surveyTopic(shard, log);
    } finally {
      await log.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.reader.close(), this.lock.letGo()]);
  }

  private async settle(): Promise<void> {
    await new JournalHome(this.ports.pool).settle(await this.home());
  }
}
