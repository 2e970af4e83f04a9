import type { Pool } from 'pg';
import { kafkaSettings, kafkaSettingsAgree } from '#libs/journal/kafka/kafka-settings.js';
import { JournalSeals } from '#libs/journal/seals/journal-seals.js';
import type { JournalStore, StoreKind } from '#libs/journal/stores/journal-store.js';
import { openJournalStore, storeOfKind } from '#libs/journal/stores/open-journal-store.js';
import type { StorePorts } from '#libs/journal/stores/store-ports.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { loadConfig, type Environment } from '#libs/platform/settings/config.js';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { findIdKeys } from '../id-keys.js';
import { openDatabase } from './database.js';
import { refuseAnotherKafka } from './refuse-another-kafka.js';

const POOL = 6;
const NAME = 'journal-tool';

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

/** What commands work on. */
export interface Place {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly databaseUrl: string;
  /** Undefined where no key is known: then nothing is written, and no seal is checked. */
  readonly seals: JournalSeals | undefined;
  /** That where the journals are kept, or the one that is named. */
  readonly store: (kind?: StoreKind) => Promise<JournalStore>;
}

export async function atPlace<T>(
  environment: Environment,
  tell: (line: string) => void,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const settings = loadConfig(kafkaSettings, environment, [kafkaSettingsAgree]);
  const idKeys = await findIdKeys(environment);
  const seals = idKeys === undefined ? undefined : new JournalSeals(idKeys);
  const clock = new SystemClock();
  const { url: databaseUrl, close } = await openDatabase(environment, tell);
  const pool = openPool(databaseUrl, { applicationName: NAME, max: POOL });
  const ports: StorePorts = { databaseUrl, pool, clock, instance: NAME, shards: ALL_SHARDS, seals, tell };
  const opened: JournalStore[] = [];
  try {
    return await work({
      pool,
      clock,
      databaseUrl,
      seals,
      store: async (kind) => {
        const store = await (kind === undefined
          ? openJournalStore(settings, ports)
          : storeOfKind(kind, settings, ports));
        opened.push(store);
        await refuseAnotherKafka(store, pool).catch(unlessSilent);
        return store;
      },
    });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
    await pool.end();
    await close();
  }
}

/** A Kafka that does not answer is told by who reads there, shard by shard. */
function unlessSilent(error: unknown): void {
  if (!(error instanceof StartFault) || error.exitCode === EXIT.config) throw error;
}
