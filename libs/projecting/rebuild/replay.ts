import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import type { Projector } from '../projector.js';

const BATCH = 1_000;

/** Brings the rows of a shard from one position of its journal to another. */
export async function replay(
  projector: Projector,
  reader: JournalReader,
  shard: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  let position = from;
  while (position < to) {
    const entries = await reader.read(shard, position + 1, Math.min(BATCH, to - position));
    if (entries.length === 0) {
      throw new JournalCorrupt(shard, position + 1, `it ends at ${position}, but is known to go on to ${to}`);
    }
    position = await projector.take(shard, entries);
  }
}
