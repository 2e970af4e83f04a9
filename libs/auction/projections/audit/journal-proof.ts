import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import type { AuditedAuction } from './audit-reader.js';

const BATCH_SIZE = 500;

/**
 * The epoch of every record of the auction, by position, if the journal has each record exactly as projected, at its place in the
 * hash chain. Only an auction that passes this check is signed.
 */
export async function provedByJournal(
  { shard, records }: AuditedAuction,
  journal: JournalReader,
): Promise<ReadonlyMap<number, number> | 'incomplete'> {
  const epochs = new Map<number, number>();
  for (let at = 0; at < records.length; at += BATCH_SIZE) {
    const batch = records.slice(at, at + BATCH_SIZE);
    const entries = await journal
      .entries(
        shard,
        batch.map(({ sequence }) => sequence),
      )
      .catch(ifCorrupt);
    if (entries === 'incomplete') return entries;
    for (const [index, { sequence, payload, hash }] of batch.entries()) {
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
