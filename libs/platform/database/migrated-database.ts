import type { ClientBase } from 'pg';
import { EXIT, StartFault } from '../process/start-fault.js';

/** A role without rights to a schema can still read the catalogue. */
const FIND = `
  select from pg_class where relname = 'migration' and relnamespace = (select oid from pg_namespace where nspname = 'meta')`;

/** For tools that work on tables and create none. */
export async function refuseUnmigratedDatabase(database: Pick<ClientBase, 'query'>): Promise<void> {
  const { rowCount } = await database.query(FIND);
  if (rowCount !== 0) return;
  throw new StartFault(
    'the database holds nothing of this product: DATABASE_URL names another one, or its migration has not run yet',
    EXIT.config,
  );
}
