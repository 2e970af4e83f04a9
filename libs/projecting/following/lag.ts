import type { Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { LIVE } from '../schemas.js';
import { PositionsTable } from '../positions.js';

export interface ShardLag {
  readonly shard: number;
  readonly head: number;
  readonly position: number;
  /** Records of the journal that the projections do not have yet; negative where they are said to be beyond its end, which nobody can have made. */
  readonly lag: number;
}

export async function projectionLag(pool: Pool, reader: JournalReader): Promise<ShardLag[]> {
  // Positions first: heads only grow, so a projector is never ahead of what is read then.
  const positions = await new PositionsTable(LIVE).all(pool);
  const heads = await reader.heads();
  return [...heads]
    .map(([shard, head]) => ({ shard, head, position: positions.get(shard) ?? 0 }))
    .map((row) => ({ ...row, lag: row.head - row.position }))
    .sort((a, b) => a.shard - b.shard);
}
