import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';

const MICROS_PER_DAY = 86_400_000_000;
/** What waits for a table blocks all that come after it. */
const LOCK_WITHIN = '2s';

/** Takes away whole months that ended so many days before `now`. Resolves with how many tables that were. */
export function dropOldMonths(pool: Pool, days: number, now: number): Promise<number> {
  return withTransaction(pool, 'read committed', async (client) => {
    await client.query(`set local lock_timeout = '${LOCK_WITHIN}'`);
    const { rows } = await client.query<{ dropped: number }>('select data.drop_months($1) as dropped', [
      now - days * MICROS_PER_DAY,
    ]);
    return rows[0]?.dropped ?? 0;
  });
}
