import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { type JournalFamily, shardsOfFamily } from '#libs/journal/journal-id.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import type { JournalStore, StorePorts } from '#libs/journal/stores/journal-store.js';
import { openJournalStore, storeOfKind } from '#libs/journal/stores/open-journal-store.js';
import { type Environment, loadConfig } from '#libs/platform/settings/config.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { findIdKeys } from '../id-keys.js';
import { openDatabase } from '../open-database.js';
import { ALL_SHARDS, type Place, refuseAnotherKafka } from '#libs/auction/proof/place.js';

const POOL = 6;
const NAME = 'journal-tool';

/** Opens the resources of a journal command, and closes them after it. */
export async function atPlace<T>(
  environment: Environment,
  family: JournalFamily,
  tell: (line: string) => void,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const settings = loadConfig(kafkaSettings, environment, [kafkaSettingsAgree]);
  const idKeys = await findIdKeys(environment);
  const seals = idKeys === undefined ? undefined : new RecordMacs(family, idKeys);
  const clock = new SystemClock();
  const { url: databaseUrl, close } = await openDatabase(environment, tell);
  const pool = openPool(databaseUrl, { applicationName: NAME, max: POOL });
  const opened: JournalStore[] = [];
  try {
    const shards = family === 'auction' ? ALL_SHARDS : await shardsOfFamily(pool, family);
    const ports: StorePorts = { family, databaseUrl, pool, clock, instance: NAME, shards, seals, tell };
    return await work({
      family,
      shards,
      pool,
      clock,
      databaseUrl,
      seals,
      store: async (kind) => {
        const store = await (kind === undefined
          ? openJournalStore(settings, ports)
          : storeOfKind(kind, settings, ports));
        opened.push(store);
        await refuseAnotherKafka(store, pool, family).catch(unlessSilent);
        return store;
      },
    });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
    await pool.end();
    await close();
  }
}

/** A Kafka that does not answer is reported by its readers, shard by shard. */
function unlessSilent(error: unknown): void {
  if (!(error instanceof StartFault) || error.exitCode === EXIT.config) throw error;
}
