import type { JournalEntry } from '../journal.js';
import type { RecordMacs } from '../seals/record-macs.js';
import type { MacsByIndex } from './topic-log.js';

/** The MAC of one append, by the index of its message; none without keys. */
export function macOfAppend(seals: RecordMacs | undefined, records: readonly JournalEntry[]): MacsByIndex {
  const last = records.at(-1);
  if (seals === undefined || last === undefined) return new Map();
  return new Map([[records.length - 1, seals.sealOf(last)]]);
}

/** The MACs that the records have already. */
export function macsOf(entries: readonly JournalEntry[]): MacsByIndex {
  return new Map(entries.flatMap(({ seal }, place) => (seal === undefined ? [] : [[place, seal] as const])));
}
