import type { Pool } from 'pg';
import { JournalBackend } from '#libs/journal/backend/journal-backend.js';
import type { JournalFamily } from '#libs/journal/journal-id.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';

/** Where the journals are known to be in Kafka, what stands in another one, or in other topics, is not them, whatever it says of itself. */
export async function refuseAnotherKafka(
  store: JournalStore,
  pool: Pool,
  family: JournalFamily,
): Promise<void> {
  const backend = await store.backend();
  if (backend !== undefined) await new JournalBackend(pool, family).checkCopy(backend);
}
