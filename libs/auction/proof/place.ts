import type { Pool } from 'pg';
import type { JournalFamily } from '#libs/journal/journal-id.js';
import type { RecordMacs } from '#libs/journal/seals/record-macs.js';
import type { JournalStore, StoreKind } from '#libs/journal/stores/journal-store.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SHARDS } from '../protocol/routing.js';
import { JournalBackend } from '#libs/journal/backend/journal-backend.js';

/** Of the auctions. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

/** What commands work on. */
export interface Place {
  readonly family: JournalFamily;
  /** All that the family has. */
  readonly shards: readonly number[];
  readonly pool: Pool;
  readonly clock: Clock;
  readonly databaseUrl: string;
  /** Undefined where no key is known: then nothing is written, and no seal is checked. */
  readonly seals: RecordMacs | undefined;
  /** That where the journals are kept, or the one that is named. */
  readonly store: (kind?: StoreKind) => Promise<JournalStore>;
}

/** Where the journals are known to be in Kafka, what stands in another one, or in other topics, is not them, whatever it says of itself. */
export async function refuseAnotherKafka(
  store: JournalStore,
  pool: Pool,
  family: JournalFamily,
): Promise<void> {
  const backend = await store.backend();
  if (backend !== undefined) await new JournalBackend(pool, family).checkCopy(backend);
}
