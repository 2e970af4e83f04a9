import type { ClientBase } from 'pg';

/** Any constant will do as long as it never changes: it keeps this lock apart from all others. */
const KEY = 2_980_114_508;

/**
 * Tables that are exchanged have no rows for whoever goes on looking at the database as it was before. So nobody exchanges any while
 * all of it is read as of one moment, which takes long where there is much: a lock on the tables themselves would have every reader
 * wait behind the one that waits to exchange them.
 */
export async function mayExchange(client: ClientBase): Promise<boolean> {
  return gets(client, 'pg_try_advisory_xact_lock');
}

/** Before the transaction begins that looks, and until the connection ends. */
export async function mayLook(client: ClientBase): Promise<boolean> {
  return gets(client, 'pg_try_advisory_lock_shared');
}

async function gets(client: ClientBase, lock: string): Promise<boolean> {
  const { rows } = await client.query<{ held: boolean }>(`select ${lock}($1) as held`, [KEY]);
  return rows[0]?.held === true;
}
