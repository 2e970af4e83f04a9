import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';

/** As much as there is before the damage; `damage` where that is nothing. */
export interface SoundPage {
  readonly page: readonly JournalEntry[];
  readonly damage?: JournalCorrupt;
}

/** Readers give a page whole or not at all: where it cannot be had, what stands before the first damage in it. */
export async function soundPage(
  reader: JournalReader,
  shard: number,
  from: number,
  limit: number,
): Promise<SoundPage> {
  for (let wanted = limit; ;) {
    try {
      return { page: await reader.read(shard, from, wanted) };
    } catch (error) {
      if (!(error instanceof JournalCorrupt)) throw error;
      if (wanted <= 1) return { page: [], damage: error };
      // Damage may be named by a record before it, such as one that appears again: then the place is closed in on.
      const before = error.sequence - from;
      wanted = before > 0 && before < wanted ? before : Math.floor(wanted / 2);
    }
  }
}
