import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { openStoreToRead } from '#libs/journal/stores/open-journal-store.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { ProcessScope } from '#libs/platform/process/lifecycle.js';
import type { Logger } from '#libs/platform/process/log.js';
import type { gatewayConfig } from '../config.js';

interface Parts {
  readonly config: Config<typeof gatewayConfig>;
  readonly log: Logger;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly scope: ProcessScope;
}

/** One reader for the whole gateway: streams, auditors and operators share its pages. */
export async function openJournalReader({ config, log, pool, clock, scope }: Parts): Promise<JournalReader> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const { DATABASE_URL: databaseUrl, INSTANCE: instance } = config;
  const tell = (line: string): void => log.warn(line);
  const store = await openStoreToRead(config, {
    family: 'auction',
    databaseUrl,
    pool,
    clock,
    instance,
    shards,
    tell,
  });
  scope.onStop('journal store', () => store.close());
  return store.reader;
}
