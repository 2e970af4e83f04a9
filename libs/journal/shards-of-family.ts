import type { Pool } from 'pg';
import type { JournalFamily } from './journal-id.js';

const SHARDS = `
  select shard from journal.shards where family = $1
  union select shard from journal.witness where family = $1
  order by shard`;

/** Shards of which this database knows that they were opened, wherever their journals are kept. */
export async function shardsOfFamily(pool: Pool, family: JournalFamily): Promise<number[]> {
  const { rows } = await pool.query<{ readonly shard: number }>(SHARDS, [family]);
  return rows.map(({ shard }) => shard);
}
