/** The services that keep journals. Their order stays: it stands in the keys of advisory locks. */
export const JOURNAL_FAMILIES = ['auction', 'execution', 'data'] as const;

export type JournalFamily = (typeof JOURNAL_FAMILIES)[number];

/** One journal. Shards count from 0 in each family; the family decides what a shard stands for. */
export interface JournalId {
  readonly family: JournalFamily;
  readonly shard: number;
}
