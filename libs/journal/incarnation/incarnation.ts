import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';

/** From when a journal came about, or was restored, until it is restored again. */
export interface Incarnation {
  readonly id: string;
}

interface Row {
  readonly life: string;
}

const FIND = 'select life from journal.life';

/** Of the journals of this database, wherever they are kept. */
export async function findIncarnation(pool: Pool): Promise<Incarnation> {
  const [row] = (await pool.query<Row>(FIND)).rows;
  if (row === undefined) throw new Error('journal.life is empty');
  return { id: row.life };
}

/** After this nothing that was said of positions in these journals counts any more. */
export async function beginIncarnation(database: Pool | PoolClient): Promise<void> {
  await database.query('update journal.life set life = $1, restored_at = now()', [randomUUID()]);
}
