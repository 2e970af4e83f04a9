import type { Pool } from 'pg';
import type { Journal, JournalReader } from '#libs/journal/journal.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { openJournalStore } from '#libs/journal/stores/open-journal-store.js';
import { keyBytes } from '#libs/platform/settings/setting-types.js';
import { SHARDS } from '#libs/auction/protocol/routing.js';
import type { OwnerParts } from './owner-parts.js';
import { journalRoom } from './journal-room.js';

export interface OwnerJournal {
  readonly journal: Journal;
  readonly reader: JournalReader;
  readonly hasRoom: () => Promise<boolean>;
}

/** The shard's journal wherever it is kept. How much room Kafka has is for those to watch who run it. */
export async function openOwnerJournal(
  { config, clock, log, scope }: OwnerParts,
  pool: Pool,
): Promise<OwnerJournal> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const { DATABASE_URL: databaseUrl, INSTANCE: instance } = config;
  const seals = new RecordMacs('auction', keyBytes(config.ID_KEY));
  const ports = { family: 'auction', databaseUrl, pool, instance, shards, seals } as const;
  const tell = (line: string): void => log.warn(line);
  const store = await openJournalStore(config, { ...ports, clock, tell, stopping: scope.stopping });
  scope.onStop('journal store', () => store.close());
  const isOurs = store.kind === 'postgres';
  return {
    journal: store.journalOf(instance, (error) => {
      log.warn({ err: error }, 'the database could not be told how far the journal has come');
    }),
    reader: store.reader,
    hasRoom: isOurs ? journalRoom(pool, config) : () => Promise.resolve(true),
  };
}
