import type { Pool } from 'pg';
import { openJournalStore, type JournalStore } from '#libs/journal/journal-store.js';
import { SHARDS } from '#libs/owner-link/routing.js';
import type { OwnerParts } from './owner-parts.js';
import { journalRoom } from './journal-room.js';

export interface OwnerJournal extends JournalStore {
  readonly hasRoom: () => Promise<boolean>;
}

/** The shard's journal wherever it is kept. How much room Kafka has is for those to watch who run it. */
export async function openOwnerJournal(
  { config, clock, scope }: OwnerParts,
  pool: Pool,
): Promise<OwnerJournal> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const store = await openJournalStore(config, { pool, clock, instance: config.INSTANCE, shards });
  scope.onStop('journal store', () => store.close());
  const isOurs = store.kind === 'postgres';
  return { ...store, hasRoom: isOurs ? journalRoom(pool, config) : () => Promise.resolve(true) };
}
