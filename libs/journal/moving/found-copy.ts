import { JournalCorrupt } from '../journal-errors.js';
import { agree, type Difference, type Pages } from './compare-shard.js';

/**
 * Accepts an earlier partial copy of this journal, and refuses anything else. Reads all of it, MACs included: a check of the end
 * alone would accept a copy that has lost them, on which no owner could start.
 */
export async function checkIsCopy(
  shard: number,
  from: Pages,
  to: Pages,
  onProgress?: (alike: number) => void,
): Promise<void> {
  const there: Pages = { read: (...asked) => to.read(...asked).catch(damagedThere) };
  const { alike, differs } = await agree(shard, from, there, onProgress);
  if (differs !== undefined) throw notACopy(shard, differs.sequence, describeDifference(differs));
  const [surplus] = await there.read(shard, alike + 1, 1);
  if (surplus !== undefined) {
    throw notACopy(shard, surplus.sequence, 'there is a record that this journal does not have');
  }
}

function describeDifference({ in: where, sealed }: Difference): string {
  if (where === 'record') return 'there is another record already';
  if (!sealed.other) return 'the record is there already, without its seal';
  return `the record is there already, with ${sealed.one ? 'another seal' : 'a seal that it does not have here'}`;
}

/** An error about damage does not tell which of the two copies is damaged. */
function damagedThere(error: unknown): never {
  if (!(error instanceof JournalCorrupt)) throw error;
  throw notACopy(error.shard, error.sequence, error.reason);
}

function notACopy(shard: number, sequence: number, what: string): JournalCorrupt {
  return new JournalCorrupt(shard, sequence, `in the target, ${what}`);
}
