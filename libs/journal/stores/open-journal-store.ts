import { isConnectionFailure } from '#libs/platform/postgres.js';
import { JournalHome } from '../home/journal-home.js';
import { kafkaAddress } from '../kafka/kafka-access.js';
import type { KafkaSettings } from '../kafka/kafka-settings.js';
import type { JournalStore } from './journal-store.js';
import { KafkaStore } from './kafka-store.js';
import { PostgresStore } from './postgres-store.js';
import type { StorePorts } from './store-ports.js';

/**
 * The one place that chooses: Kafka where its brokers are named, PostgreSQL otherwise; and refused where the database knows better.
 */
export async function openJournalStore(settings: KafkaSettings, ports: StorePorts): Promise<JournalStore> {
  const address = await kafkaAddress(settings, ports.instance);
  const topicPrefix = settings.KAFKA_TOPIC_PREFIX;
  await new JournalHome(ports.pool)
    .check(address === undefined ? undefined : { topicPrefix })
    .catch(unlessAway);
  return address === undefined ? new PostgresStore(ports) : new KafkaStore(ports, address, topicPrefix);
}

/** Who only reads may start before the database does; a writer asks again. */
function unlessAway(error: unknown): void {
  if (!isConnectionFailure(error)) throw error;
}
