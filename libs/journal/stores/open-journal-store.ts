import { isUnanswered } from '#libs/platform/database/postgres.js';
import { ConfigFault } from '#libs/platform/process/start-fault.js';
import { JournalBackend } from '../backend/journal-backend.js';
import { kafkaAddress } from '../kafka/kafka-access.js';
import type { KafkaSettings } from '../kafka/kafka-settings.js';
import { RestoredMark } from '../restored/restored-mark.js';
import type { JournalStore, StoreKind, StorePorts } from './journal-store.js';
import { KafkaStore } from './kafka-store.js';
import { PostgresStore } from './postgres-store.js';

/**
 * Chooses the backend: Kafka if its brokers are named, else PostgreSQL. Refuses if the database remembers another one.
 */
export async function openJournalStore(settings: KafkaSettings, ports: StorePorts): Promise<JournalStore> {
  const isInKafka = settings.KAFKA_BROKERS !== undefined;
  const { KAFKA_TOPIC_PREFIX: topicPrefix } = settings;
  await new JournalBackend(ports.pool, ports.family)
    .check(isInKafka ? { topicPrefix } : undefined)
    .catch(unlessAway);
  return await storeOfKind(isInKafka ? 'kafka' : 'postgres', settings, ports);
}

/** For processes that only read. */
export async function openStoreToRead(settings: KafkaSettings, ports: StorePorts): Promise<JournalStore> {
  await new RestoredMark(ports.pool, ports.family).refuse().catch(unlessAway);
  return await openJournalStore(settings, ports);
}

/** For tools that need a given store, wherever the journals are. */
export async function storeOfKind(
  kind: StoreKind,
  settings: KafkaSettings,
  ports: StorePorts,
): Promise<JournalStore> {
  if (kind === 'postgres') return new PostgresStore(ports);
  const address = await kafkaAddress(settings, ports.instance);
  if (address === undefined) throw new ConfigFault(['KAFKA_BROKERS is not set: it says where Kafka is']);
  return new KafkaStore(ports, address, settings.KAFKA_TOPIC_PREFIX);
}

/** A reader may start before the database does. A writer checks again. */
function unlessAway(error: unknown): void {
  if (!isUnanswered(error)) throw error;
}
