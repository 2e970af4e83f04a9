import type { Pool } from 'pg';

/** Something that was made from a shard's journal and remembers up to which record. */
export interface Mark {
  readonly of: 'projections' | 'snapshot';
  readonly shard: number;
  readonly sequence: number;
  readonly hash: string;
}

const MARKS = `
  select 'projections' as of, shard, sequence, encode(hash, 'hex') as hash from execution.positions where sequence > 0
  union all
  select 'snapshot', shard, sequence, encode(hash, 'hex') from journal.snapshots
  order by sequence`;
const FENCES = 'select shard, epoch from risk.shard_fence';

/** A chain alone cannot show that its end was cut off; what was made from it can. */
export async function marksOf(pool: Pool): Promise<Mark[]> {
  return (await pool.query<Mark>(MARKS)).rows;
}

/** The epoch, by shard, in which somebody last reserved. */
export async function reservingEpochs(pool: Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; epoch: number }>(FENCES);
  return new Map(rows.map(({ shard, epoch }) => [shard, epoch]));
}
