import type { JournalEntry } from '../journal.js';
import type { JournalSeals } from '../seals/journal-seals.js';
import type { SealsByPlace } from './topic-log.js';

/** For one append. Without keys it has none. */
export function sealedAppend(
  seals: JournalSeals | undefined,
  records: readonly JournalEntry[],
): SealsByPlace {
  const last = records.at(-1);
  if (seals === undefined || last === undefined) return new Map();
  return new Map([[records.length - 1, seals.sealOf(last)]]);
}

/** Those that the records have already. */
export function sealsOf(entries: readonly JournalEntry[]): SealsByPlace {
  return new Map(entries.flatMap(({ seal }, place) => (seal === undefined ? [] : [[place, seal] as const])));
}
