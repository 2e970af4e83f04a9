import { JournalCorrupt } from '../journal-errors.js';
import { agree, type Difference, type Pages } from './compare-shard.js';

/**
 * An earlier copy of this journal may be gone on with; anything else must not be mixed with it. All that stands there is read, seals
 * included: where its end alone was looked at, a copy that had lost them was gone on with, and nobody could start on what came of it.
 */
export async function checkIsCopy(
  shard: number,
  from: Pages,
  to: Pages,
  tell?: (alike: number) => void,
): Promise<void> {
  const there: Pages = { read: (...asked) => to.read(...asked).catch(damagedThere) };
  const { alike, differs } = await agree(shard, from, there, tell);
  if (differs !== undefined) throw notACopy(shard, differs.sequence, whatStandsThere(differs));
  const [surplus] = await there.read(shard, alike + 1, 1);
  if (surplus !== undefined) {
    throw notACopy(shard, surplus.sequence, 'a record stands there that this journal does not have');
  }
}

function whatStandsThere({ in: where, sealed }: Difference): string {
  if (where === 'record') return 'another record stands there already';
  if (!sealed.other) return 'the record stands there already, without its seal';
  return `the record stands there already, with ${sealed.one ? 'another seal' : 'a seal, and has none'}`;
}

/** It is not told by itself in which of the two places. */
function damagedThere(error: unknown): never {
  if (!(error instanceof JournalCorrupt)) throw error;
  throw notACopy(error.shard, error.sequence, error.reason);
}

function notACopy(shard: number, sequence: number, what: string): JournalCorrupt {
  return new JournalCorrupt(shard, sequence, `where it is to be copied to, ${what}`);
}
