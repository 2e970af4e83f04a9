import type { Pool } from 'pg';
import type { JournalFamily } from '#libs/journal/journal-id.js';
import type { RecordMacs } from '#libs/journal/seals/record-macs.js';
import type { JournalStore, StoreKind } from '#libs/journal/stores/journal-store.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SHARDS } from '../protocol/routing.js';
import { JournalBackend } from '#libs/journal/backend/journal-backend.js';

/** The shards of the auctions. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

/** What the journal commands work with. */
export interface Place {
  readonly family: JournalFamily;
  /** All shards of the family. */
  readonly shards: readonly number[];
  readonly pool: Pool;
  readonly clock: Clock;
  readonly databaseUrl: string;
  /** Undefined if no key is known. Then nothing is written, and no seal is checked. */
  readonly seals: RecordMacs | undefined;
  /** Opens the store that is named, else the one where the journals are kept. */
  readonly store: (kind?: StoreKind) => Promise<JournalStore>;
}

/** Refuses another Kafka cluster, or other topics, than the ones in which the database knows the journals to be. */
export async function refuseAnotherKafka(
  store: JournalStore,
  pool: Pool,
  family: JournalFamily,
): Promise<void> {
  const backend = await store.backend();
  if (backend !== undefined) await new JournalBackend(pool, family).checkCopy(backend);
}
