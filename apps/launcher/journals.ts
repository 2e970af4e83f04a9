import { kafkaAddress } from '#libs/journal/kafka/kafka-access.js';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import type { Patience } from '#libs/journal/stores/until-settled.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { OWNERS } from './config.js';

/** The files that settings of journals name are read before anything is started, as the settings are. */
export async function readJournalFiles(env: Environment): Promise<void> {
  await kafkaAddress(loadConfig(kafkaSettings, env, [kafkaSettingsAgree]), 'launcher');
}

/**
 * Before any process is started: journals that are elsewhere, gone, or kept by topics that would lose them are one line here, and would be
 * one in the log of every process. Resolves with whether they are in Kafka.
 */
export async function prepareJournals(
  databaseUrl: string,
  env: Environment,
  patience: Patience,
): Promise<boolean> {
  const settings = loadConfig(kafkaSettings, env, [kafkaSettingsAgree]);
  const pool = openPool(databaseUrl, { applicationName: 'sotto-launcher', max: 1 });
  const shards = Array.from({ length: OWNERS }, (_, shard) => shard);
  try {
    const ports = {
      ...patience,
      family: 'auction' as const,
      databaseUrl,
      pool,
      instance: 'launcher',
      shards,
    };
    const store = await openJournalStore(settings, ports);
    try {
      await store.prepare();
    } finally {
      await store.close();
    }
    return store.kind === 'kafka';
  } finally {
    await pool.end();
  }
}
