import type { KafkaSettings } from '../../journal/kafka/kafka-settings.js';
import { kafkaSettings } from '../../journal/kafka/kafka-settings.js';
import { KafkajsTopics } from '../../journal/kafka/kafkajs/kafkajs-topics.js';
import type { LogMessage } from '../../journal/kafka/topic-log.js';
import type { JournalWriter } from '../../journal/journal.js';
import { journalMigrations } from '../../journal/migrations/list.js';
import { RecordMacs } from '../../journal/seals/record-macs.js';
import type { JournalStore, StoreKind } from '../../journal/stores/journal-store.js';
import { openJournalStore, storeOfKind } from '../../journal/stores/open-journal-store.js';
import { loadConfig } from '../../platform/settings/config.js';
import { SystemClock } from '../../platform/time/system-clock.js';
import { until } from '../contracts/journal-subject.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import type { TestKafka } from './test-kafka.js';

const KEY = Buffer.alloc(32, 7);
const FETCH_BYTES = 1_000_000;
const clock = new SystemClock();
let nextPrefix = 0;

export interface StoreOpening {
  /** Overrides the settings. */
  readonly kind?: StoreKind;
  /** The first key makes MACs. Empty for a process without keys. */
  readonly keys?: readonly Buffer[];
  readonly settings?: KafkaSettings;
  /** Receives the reasons why the start waits. */
  readonly tell?: (line: string) => void;
}

/** Journals in topics of their own, with a database, opened as the processes of a cluster open them. */
export class KeptJournals {
  readonly topics: KafkajsTopics;
  private readonly stores: JournalStore[] = [];
  private readonly writers: JournalWriter[] = [];

  private constructor(
    private readonly kafka: TestKafka,
    readonly shards: readonly number[],
    readonly prefix: string,
    readonly database: TestDatabase,
  ) {
    this.topics = this.topicsAt(prefix);
  }

  static async begin(
    kafka: TestKafka,
    shards: readonly number[],
    migrations = journalMigrations,
  ): Promise<KeptJournals> {
    const prefix = `${kafka.prefix}kept-${(nextPrefix += 1)}.`;
    return new KeptJournals(kafka, shards, prefix, await createTestDatabase(migrations));
  }

  topicsAt(prefix: string): KafkajsTopics {
    return new KafkajsTopics(
      { brokers: this.kafka.addresses, clientId: 'test' },
      { prefix, family: 'auction' },
      clock,
    );
  }

  settings(prefix = this.prefix): KafkaSettings {
    return loadConfig(kafkaSettings, {
      KAFKA_BROKERS: this.kafka.addresses.join(','),
      KAFKA_TOPIC_PREFIX: prefix,
    });
  }

  /** The same topics with another database. */
  async besideAnother(): Promise<KeptJournals> {
    const { kafka, shards, prefix } = this;
    return new KeptJournals(kafka, shards, prefix, await createTestDatabase(journalMigrations));
  }

  async store({
    kind,
    keys = [KEY],
    settings = this.settings(),
    tell,
  }: StoreOpening = {}): Promise<JournalStore> {
    const [first, ...former] = keys;
    const ports = {
      family: 'auction' as const,
      databaseUrl: this.database.url,
      pool: this.database.pool,
      clock,
      tell,
      instance: 'test',
      shards: this.shards,
      ...(first === undefined ? {} : { seals: new RecordMacs('auction', [first, ...former]) }),
    };
    const store = await (kind === undefined
      ? openJournalStore(settings, ports)
      : storeOfKind(kind, settings, ports));
    this.stores.push(store);
    return store;
  }

  async owner(
    shard: number,
    store?: JournalStore,
    onFault?: (error: unknown) => void,
  ): Promise<JournalWriter> {
    const writer = await (store ?? (await this.store())).journalOf('owner', onFault).open(shard);
    this.writers.push(writer);
    return writer;
  }

  /** Writes to every shard, each with an owner that is closed afterwards. */
  async write(...payloads: readonly string[]): Promise<void> {
    const store = await this.store();
    for (const shard of this.shards) {
      const writer = await this.owner(shard, store);
      await writer.append(payloads);
      await writer.close();
    }
    await store.close();
  }

  async content(shard: number, topics = this.topics): Promise<LogMessage[]> {
    const log = topics.open(shard);
    const messages: LogMessage[] = [];
    while (messages.length < (await log.end())) {
      messages.push(...(await log.fetch(messages.length, FETCH_BYTES)));
    }
    await log.close();
    return messages;
  }

  /** Deletes the topic, and recreates it with these messages if there are any. */
  async replace(shard: number, messages?: readonly Omit<LogMessage, 'offset'>[]): Promise<void> {
    const { topics } = this;
    if (await topics.exists(shard)) await topics.remove(shard);
    await until(clock, async () => !(await topics.exists(shard)));
    if (messages === undefined) return;
    const log = await topics.prepare(shard);
    await until(clock, () =>
      log.end().then(
        () => true,
        () => false,
      ),
    );
    const values = messages.map(({ value }) => value);
    const seals = messages.flatMap(({ seal }, at) => (seal === undefined ? [] : [[at, seal] as const]));
    if (values.length > 0) await log.append(values, 5_000, new Map(seals));
    await log.close();
  }

  /** Closes all writers and stores. */
  async close(): Promise<void> {
    await Promise.all(this.writers.splice(0).map((writer) => writer.close()));
    await Promise.all(this.stores.splice(0).map((store) => store.close()));
  }

  async dispose(): Promise<void> {
    await this.close();
    await this.database.drop();
  }
}
