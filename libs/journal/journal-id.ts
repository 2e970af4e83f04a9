import type { Pool } from 'pg';

/** The services that keep journals. Their order stays: it stands in the keys of advisory locks. */
export const JOURNAL_FAMILIES = ['auction', 'execution', 'data'] as const;

export type JournalFamily = (typeof JOURNAL_FAMILIES)[number];

/** One journal. Shards count from 0 in each family; the family decides what a shard stands for. */
export interface JournalId {
  readonly family: JournalFamily;
  readonly shard: number;
}

const SHARDS = `
  select shard from journal.shards where family = $1
  union select shard from journal.witness where family = $1
  order by shard`;

/** Shards of which this database knows that they were opened, wherever their journals are kept. */
export async function shardsOfFamily(pool: Pool, family: JournalFamily): Promise<number[]> {
  const { rows } = await pool.query<{ readonly shard: number }>(SHARDS, [family]);
  return rows.map(({ shard }) => shard);
}
