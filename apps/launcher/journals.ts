import { kafkaAddress } from '#libs/journal/kafka/kafka-access.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import type { Patience } from '#libs/journal/stores/until-settled.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { openPool } from '#libs/platform/database/postgres.js';
import type { JournalFamily } from '#libs/journal/journal-id.js';
import type { ServiceName } from '#libs/platform/processes/catalogue.js';
import { OWNERS, type LauncherConfig } from './config.js';

/** Reads the files that journal settings name before anything starts, like the settings themselves. */
export async function readJournalFiles(env: Environment): Promise<void> {
  await kafkaAddress(loadConfig(kafkaSettings, env, [kafkaSettingsAgree]), 'launcher');
}

/**
 * Checks the journals before any process starts: a journal that is elsewhere, lost or in unsafe topics is
 * reported once, not by every process. Resolves with whether they are in Kafka.
 */
export async function prepareJournals(
  databaseUrl: string,
  env: Environment,
  patience: Patience,
  { SERVICES: services, CELLS: cells }: Pick<LauncherConfig, 'SERVICES' | 'CELLS'>,
): Promise<boolean> {
  const settings = loadConfig(kafkaSettings, env, [kafkaSettingsAgree]);
  const pool = openPool(databaseUrl, { applicationName: 'sotto-launcher', max: 1 });
  try {
    let isOnKafka = false;
    for (const [family, count] of familiesOf(services, cells)) {
      const shards = Array.from({ length: count }, (_, shard) => shard);
      const ports = { ...patience, family, databaseUrl, pool, instance: 'launcher', shards };
      const store = await openJournalStore(settings, ports);
      try {
        await store.prepare();
      } finally {
        await store.close();
      }
      isOnKafka = store.kind === 'kafka';
    }
    return isOnKafka;
  } finally {
    await pool.end();
  }
}

function familiesOf(services: readonly ServiceName[], cells: number): [JournalFamily, number][] {
  return [
    ['auction', OWNERS],
    ...(services.includes('execution') ? [['execution', cells] as [JournalFamily, number]] : []),
  ];
}
