import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';

const MICROS_PER_DAY = 86_400_000_000;
/** Kept short: a query that waits for a table lock blocks every query after it. */
const LOCK_TIMEOUT = '2s';

/** Drops whole months that ended more than `days` before `now`. Resolves with the number of tables dropped. */
export function dropOldMonths(pool: Pool, days: number, now: number): Promise<number> {
  return withTransaction(pool, 'read committed', async (client) => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    const { rows } = await client.query<{ dropped: number }>('select data.drop_months($1) as dropped', [
      now - days * MICROS_PER_DAY,
    ]);
    return rows[0]?.dropped ?? 0;
  });
}
