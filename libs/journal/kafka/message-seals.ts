import type { JournalEntry } from '../journal.js';
import type { RecordMacs } from '../seals/record-macs.js';
import type { MacsByIndex } from './topic-log.js';

/** For one append. Without keys it has none. */
export function sealedAppend(seals: RecordMacs | undefined, records: readonly JournalEntry[]): MacsByIndex {
  const last = records.at(-1);
  if (seals === undefined || last === undefined) return new Map();
  return new Map([[records.length - 1, seals.sealOf(last)]]);
}

/** Those that the records have already. */
export function sealsOf(entries: readonly JournalEntry[]): MacsByIndex {
  return new Map(entries.flatMap(({ seal }, place) => (seal === undefined ? [] : [[place, seal] as const])));
}
