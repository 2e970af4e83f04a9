import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import type { AuditedAuction } from './audit-reader.js';

const AT_A_TIME = 500;

/**
 * The epoch of every record of the auction, by position, provided that the journal has each of them just as the projection
 * has, in its place in the hash chain. Only what has passed this is signed.
 */
export async function provedByJournal(
  { shard, records }: AuditedAuction,
  journal: JournalReader,
): Promise<ReadonlyMap<number, number> | 'incomplete'> {
  const epochs = new Map<number, number>();
  for (let at = 0; at < records.length; at += AT_A_TIME) {
    const some = records.slice(at, at + AT_A_TIME);
    const entries = await journal
      .entries(
        shard,
        some.map(({ sequence }) => sequence),
      )
      .catch(ifCorrupt);
    if (entries === 'incomplete') return entries;
    for (const [index, { sequence, payload, hash }] of some.entries()) {
      const entry = entries[index];
      if (entry?.payload !== payload || entry.hash !== hash) return 'incomplete';
      epochs.set(sequence, entry.epoch);
    }
  }
  return epochs;
}

function ifCorrupt(error: unknown): 'incomplete' {
  if (error instanceof JournalCorrupt) return 'incomplete';
  throw error;
}
