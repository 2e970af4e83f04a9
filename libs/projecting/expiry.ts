import type { ClientBase, Pool } from 'pg';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { qualified, type ProjectionTables } from './projection.js';

const EVERY_MILLIS = 5_000;
const BATCH = 500;

export interface ExpiryPorts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

/** Deletes expired rows, a few at a time so that no reader waits. Any number of processes may do so. */
export function startExpiry(projection: ProjectionTables, { pool, clock, onFault }: ExpiryPorts): Cancel {
  return repeat(clock, EVERY_MILLIS, async () => {
    try {
      await deleteExpired(pool, projection, { nowNanos: clock.epochNanos(), limit: BATCH });
    } catch (error) {
      onFault(error);
    }
  });
}

/** At most `limit` rows of each table, the oldest first. */
export async function deleteExpired(
  client: Pick<ClientBase, 'query'>,
  { tables }: ProjectionTables,
  { nowNanos, limit }: { readonly nowNanos: bigint; readonly limit: number },
): Promise<number> {
  let deleted = 0;
  for (const { expires, ...name } of tables) {
    if (expires === undefined) continue;
    const table = qualified(name);
    const { rowCount } = await client.query(
      `delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${expires} <= $1::bigint order by ${expires} limit $2
       ))`,
      [String(nowNanos), limit],
    );
    deleted += rowCount ?? 0;
  }
  return deleted;
}
