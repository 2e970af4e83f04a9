import type { Pool } from 'pg';

/** Up to which record of the shard's journal the projections speak. */
export async function projectedPosition(pool: Pool, shard: number): Promise<number> {
  const { rows } = await pool.query<{ sequence: number }>({
    name: 'projection-position',
    text: 'select sequence from auction_history.projection_offsets where shard = $1',
    values: [shard],
  });
  return rows[0]?.sequence ?? 0;
}
