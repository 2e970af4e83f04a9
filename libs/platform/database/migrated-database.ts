import type { ClientBase } from 'pg';
import { EXIT, StartFault } from '../process/start-fault.js';

/** Whoever may not look into a schema may look what is in it. */
const FIND = `
  select from pg_class where relname = 'migration' and relnamespace = (select oid from pg_namespace where nspname = 'meta')`;

/** For who works on what is there and makes none of it. */
export async function refuseUnmigratedDatabase(database: Pick<ClientBase, 'query'>): Promise<void> {
  const { rowCount } = await database.query(FIND);
  if (rowCount !== 0) return;
  throw new StartFault(
    'the database holds nothing of this product: DATABASE_URL names another one, or its migration has not run yet',
    EXIT.config,
  );
}
