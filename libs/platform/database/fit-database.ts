import pg from 'pg';
import type { ClientBase } from 'pg';
import { refuseNewerDatabase } from './generation.js';
import { KEPT } from './postgres.js';
import { EXIT, StartFault } from '../process/start-fault.js';
import { refuseUnfinishedRestore } from './unfinished-restore.js';

/** Every writer must call this before its first write. Refuses a database of a newer release or with an unfinished restore. */
export async function refuseUnfitDatabase(database: Pick<ClientBase, 'query'>): Promise<void> {
  await refuseUnfinishedRestore(database);
  await refuseNewerDatabase(database);
}

/** Does the same over a separate connection, with further checks by the caller. */
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

/** A role without rights to a schema can still read the catalogue. */
const FIND = `
  select from pg_class where relname = 'migration' and relnamespace = (select oid from pg_namespace where nspname = 'meta')`;

/** For tools that use tables but create none. */
export async function refuseUnmigratedDatabase(database: Pick<ClientBase, 'query'>): Promise<void> {
  const { rowCount } = await database.query(FIND);
  if (rowCount !== 0) return;
  throw new StartFault(
    'the database has no tables of this product: DATABASE_URL names another database, or the migration has not run yet',
    EXIT.config,
  );
}
