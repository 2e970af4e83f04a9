import pg from 'pg';
import type { ClientBase } from 'pg';
import { refuseNewerDatabase } from './generation.js';
import { KEPT } from './postgres.js';
import { refuseUnfinishedRestore } from './unfinished-restore.js';

/** Called by every writer before its first write. Refuses a database for later releases, and one that a restore has left half done. */
export async function refuseUnfitDatabase(database: Pick<ClientBase, 'query'>): Promise<void> {
  await refuseUnfinishedRestore(database);
  await refuseNewerDatabase(database);
}

/** The same over a connection of its own, with further checks of the caller. */
export async function refuseUnfitDatabaseAt(
  url: string,
  refuseMore: (database: Pick<ClientBase, 'query'>) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'sotto-fitness', options: KEPT });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await refuseUnfitDatabase(client);
    await refuseMore(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
