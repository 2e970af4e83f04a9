import { Kafka, logLevel, type Admin } from 'kafkajs';
import type { TopicLog } from '../topic-log.js';
import { KafkajsLog, type KafkaAddress } from './kafkajs-connection.js';

/** What a topic of the journal must be set to, whatever the brokers' defaults are. */
const SETTINGS: Readonly<Record<string, string>> = {
  'cleanup.policy': 'delete',
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'unclean.leader.election.enable': 'false',
  'max.message.bytes': String(20 * 1024 * 1024),
};
const REPLICAS = 3;
const IN_SYNC = 2;
const CONFIG_OF_TOPIC = 2;
const TOPICS_AGE_MILLIS = 5_000;

/** A topic that exists and would lose or change what is written to it. */
export class TopicUnfit extends Error {
  override readonly name = 'TopicUnfit';
}

export interface TopicNames {
  /** What stands before the shard's number. */
  readonly prefix: string;
}

/** The topics of a journal: made, checked, listed and opened. */
export class KafkajsTopics {
  private listed: { readonly at: number; readonly shards: Promise<readonly number[]> } | undefined;

  constructor(
    private readonly address: KafkaAddress,
    private readonly names: TopicNames,
    private readonly monotonicMillis: () => number,
  ) {}

  nameOf(shard: number): string {
    return `${this.names.prefix}${shard}`;
  }

  open(shard: number): TopicLog {
    return new KafkajsLog(this.address, this.nameOf(shard));
  }

  /** For a writer: makes the topic if there is none, and refuses one that is not fit to keep a journal. */
  async prepare(shard: number): Promise<TopicLog> {
    const topic = this.nameOf(shard);
    await this.withAdmin(async (admin) => {
      const { brokers } = await admin.describeCluster();
      const replicas = Math.min(REPLICAS, brokers.length);
      await this.make(admin, topic, replicas);
      await this.check(admin, topic, replicas);
    });
    return this.open(shard);
  }

  /** Takes a journal away, with all that it holds. */
  async remove(shard: number): Promise<void> {
    await this.withAdmin((admin) => admin.deleteTopics({ topics: [this.nameOf(shard)] }));
  }

  /** Of all topics with our prefix; asked anew every few seconds. */
  shards(): Promise<readonly number[]> {
    const now = this.monotonicMillis();
    if (this.listed === undefined || now - this.listed.at > TOPICS_AGE_MILLIS) {
      const shards = this.list().catch((error: unknown) => {
        this.listed = undefined;
        throw error;
      });
      this.listed = { at: now, shards };
    }
    return this.listed.shards;
  }

  private list(): Promise<readonly number[]> {
    const { prefix } = this.names;
    return this.withAdmin(async (admin) => {
      const topics = await admin.listTopics();
      const numbers = topics
        .filter((topic) => topic.startsWith(prefix))
        .map((topic) => topic.slice(prefix.length));
      return numbers.filter((number) => /^\d{1,9}$/.test(number)).map(Number);
    });
  }

  private async make(admin: Admin, topic: string, replicas: number): Promise<void> {
    const settings = { ...SETTINGS, 'min.insync.replicas': inSyncOf(replicas) };
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        {
          topic,
          numPartitions: 1,
          replicationFactor: replicas,
          configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
        },
      ],
    });
  }

  private async check(admin: Admin, topic: string, replicas: number): Promise<void> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics[0]?.partitions ?? [];
    const faults: string[] = [];
    if (partitions.length !== 1) faults.push(`it has ${partitions.length} partitions instead of 1`);
    const copies = partitions[0]?.replicas.length ?? 0;
    if (copies < replicas) faults.push(`it has ${copies} replicas instead of ${replicas}`);
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: CONFIG_OF_TOPIC, name: topic }],
    });
    const found = new Map(
      resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]),
    );
    for (const [name, value] of Object.entries({ ...SETTINGS, 'min.insync.replicas': inSyncOf(replicas) })) {
      const given = found.get(name);
      const isGood =
        name === 'max.message.bytes' || name === 'min.insync.replicas'
          ? Number(given) >= Number(value)
          : given === value;
      if (!isGood) faults.push(`${name} is ${given ?? 'not set'} instead of ${value}`);
    }
    if (faults.length > 0) throw new TopicUnfit(`topic ${topic} cannot keep a journal: ${faults.join('; ')}`);
  }

  private async withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const { brokers, clientId, ssl, sasl, socketFactory } = this.address;
    const kafka = new Kafka({
      brokers: [...brokers],
      clientId,
      logLevel: logLevel.NOTHING,
      ...(ssl === undefined ? {} : { ssl }),
      ...(sasl === undefined ? {} : { sasl }),
      ...(socketFactory === undefined ? {} : { socketFactory }),
    });
    const admin = kafka.admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }
}

function inSyncOf(replicas: number): string {
  return String(replicas >= REPLICAS ? IN_SYNC : 1);
}
