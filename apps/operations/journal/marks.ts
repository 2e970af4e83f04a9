import type { Pool } from 'pg';
import type { StoreKind } from '#libs/journal/stores/journal-store.js';

/** Something that was made from a shard's journal, or was told of it, and remembers up to which record. */
export interface Mark {
  readonly of: 'projections' | 'snapshot' | 'witness';
  readonly shard: number;
  readonly sequence: number;
  readonly hash: string;
}

const MARKS = `
  select 'projections' as of, shard, sequence, encode(hash, 'hex') as hash from execution.positions where sequence > 0
  union all
  select 'snapshot', shard, sequence, encode(hash, 'hex') from journal.snapshots
  union all
  select 'witness', shard, sequence, encode(hash, 'hex') from journal.witness where sequence > 0 and $1 = 'kafka'
  order by sequence`;
const SEALED = 'select shard, sequence from journal.sealed';
const FENCES = 'select shard, epoch from risk.shard_fence';

/** A chain alone cannot show that its end was cut off; what was made from it can. */
export async function marksOf(pool: Pool, store: StoreKind): Promise<Mark[]> {
  return (await pool.query<Mark>(MARKS, [store])).rows;
}

/** The epoch, by shard, in which somebody last reserved. */
export async function reservingEpochs(pool: Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; epoch: number }>(FENCES);
  return new Map(rows.map(({ shard, epoch }) => [shard, epoch]));
}

/** By shard, from which record on it is known to be sealed. */
export async function sealedFromOf(pool: Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ shard: number; sequence: number }>(SEALED);
  return new Map(rows.map(({ shard, sequence }) => [shard, sequence]));
}
