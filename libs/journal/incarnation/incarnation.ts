import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';

/** The journals of a database from their beginning, or from a restore, until the next restore. */
export interface Incarnation {
  readonly id: string;
}

interface Row {
  readonly life: string;
}

const FIND = 'select life from journal.life';

/** Of this database's journals, whichever store keeps them. */
export async function findIncarnation(pool: Pool): Promise<Incarnation> {
  const [row] = (await pool.query<Row>(FIND)).rows;
  if (row === undefined) throw new Error('journal.life is empty');
  return { id: row.life };
}

/** Makes all positions in these journals that were given out before invalid. */
export async function beginIncarnation(database: Pool | PoolClient): Promise<void> {
  await database.query('update journal.life set life = $1, restored_at = now()', [randomUUID()]);
}
