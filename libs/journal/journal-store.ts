import type { Pool } from 'pg';
import type { Clock } from '#libs/platform/clock.js';
import { isConnectionFailure } from '#libs/platform/postgres.js';
import { JournalHome, type KafkaHome } from './home/journal-home.js';
import { JournalLock } from './home/journal-lock.js';
import type { Journal, JournalReader } from './journal.js';
import { kafkaAddress } from './kafka/kafka-access.js';
import { KafkaJournal } from './kafka/kafka-journal.js';
import { KafkaJournalReader } from './kafka/kafka-reader.js';
import type { KafkaSettings } from './kafka/kafka-settings.js';
import { KafkajsTopics } from './kafka/kafkajs/kafkajs-topics.js';
import { PostgresJournal } from './postgres/postgres-journal.js';
import { PostgresJournalReader } from './postgres/postgres-reader.js';

/** Where the journals of a cluster are kept, as one process has it. */
export interface JournalStore {
  readonly kind: 'postgres' | 'kafka';
  readonly reader: JournalReader;
  /** For writers. The first that opens a shard settles where the journals are. */
  journalOf(opener: string): Journal;
  /** Settles that, and has what every shard's journal will be kept in; refuses what would not keep it. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

export type StoreSettings = KafkaSettings & { readonly DATABASE_URL: string };

export interface StorePorts {
  readonly pool: Pool;
  readonly clock: Clock;
  /** Who this process is to the brokers. */
  readonly instance: string;
  /** Those that there may be. */
  readonly shards: readonly number[];
}

/** The one place that chooses: Kafka where its brokers are named, PostgreSQL otherwise. */
export async function openJournalStore(settings: StoreSettings, ports: StorePorts): Promise<JournalStore> {
  const { pool, clock, instance, shards } = ports;
  const home = new JournalHome(pool);
  const lock = new JournalLock(settings.DATABASE_URL, clock);
  const address = await kafkaAddress(settings, instance);
  const topicPrefix = settings.KAFKA_TOPIC_PREFIX;
  await home.check(address === undefined ? undefined : { topicPrefix }).catch(unlessAway);
  if (address === undefined) {
    const journalOf = (opener: string): Journal =>
      new PostgresJournal({ url: settings.DATABASE_URL, opener, clock });
    return {
      kind: 'postgres',
      reader: new PostgresJournalReader(pool),
      journalOf: (opener) => settledFirst(journalOf(opener), home, lock, () => Promise.resolve(undefined)),
      // Its tables are migrations.
      prepare: () => home.settle(undefined),
      close: () => lock.letGo(),
    };
  }
  const topics = new KafkajsTopics(address, topicPrefix, clock);
  const reader = new KafkaJournalReader({ openLog: (shard) => topics.open(shard), shards });
  const place = async (): Promise<KafkaHome> => ({ clusterId: await topics.clusterId(), topicPrefix });
  const journalOf = (opener: string): Journal =>
    new KafkaJournal({ openLog: (shard) => topics.prepare(shard), clock, opener });
  return {
    kind: 'kafka',
    reader,
    journalOf: (opener) => settledFirst(journalOf(opener), home, lock, place),
    prepare: async () => {
      await home.settle(await place());
      for (const shard of shards) await (await topics.prepare(shard)).close();
    },
    close: async () => {
      await Promise.all([reader.close(), lock.letGo()]);
    },
  };
}

function settledFirst(
  journal: Journal,
  home: JournalHome,
  lock: JournalLock,
  place: () => Promise<KafkaHome | undefined>,
): Journal {
  return {
    open: async (shard) => {
      await lock.share();
      await home.settle(await place());
      return await journal.open(shard);
    },
  };
}

/** Who only reads may start before the database does; a writer asks again. */
function unlessAway(error: unknown): void {
  if (!isConnectionFailure(error)) throw error;
}
