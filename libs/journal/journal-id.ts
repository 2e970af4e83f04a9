import type { Pool } from 'pg';

/** The services that keep journals. Their order is part of the keys of advisory locks, so it must not change. */
export const JOURNAL_FAMILIES = ['auction', 'execution', 'data'] as const;

export type JournalFamily = (typeof JOURNAL_FAMILIES)[number];

/** One journal. Shards count from 0 in each family; the family decides what a shard is. */
export interface JournalId {
  readonly family: JournalFamily;
  readonly shard: number;
}

const SHARDS = `
  select shard from journal.shards where family = $1
  union select shard from journal.witness where family = $1
  order by shard`;

/** Shards that were opened, as far as this database knows, in either store. */
export async function shardsOfFamily(pool: Pool, family: JournalFamily): Promise<number[]> {
  const { rows } = await pool.query<{ readonly shard: number }>(SHARDS, [family]);
  return rows.map(({ shard }) => shard);
}
