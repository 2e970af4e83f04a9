import { kafkaSettings } from '#libs/journal/kafka/kafka-settings.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import type { Clock } from '#libs/platform/clock.js';
import { loadConfig, type Environment } from '#libs/platform/config.js';
import { openPool } from '#libs/platform/postgres.js';
import { OWNERS } from './processes.js';

/**
 * Before any process is started: topics that would not keep a journal are one line here, and would be one in the log of every owner.
 * False where no brokers are named.
 */
export async function prepareJournals(databaseUrl: string, env: Environment, clock: Clock): Promise<boolean> {
  const settings = loadConfig(kafkaSettings, env);
  if (settings.KAFKA_BROKERS === undefined) return false;
  const pool = openPool(databaseUrl, { applicationName: 'sotto-launcher', max: 1 });
  const shards = Array.from({ length: OWNERS }, (_, shard) => shard);
  try {
    const ports = { databaseUrl, pool, clock, instance: 'launcher', shards };
    const store = await openJournalStore(settings, ports);
    await store.prepare();
    await store.close();
  } finally {
    await pool.end();
  }
  return true;
}
