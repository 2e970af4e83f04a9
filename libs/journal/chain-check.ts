import { recordHash } from './hash-chain.js';
import type { EntryKind, JournalEntry, JournalHead } from './journal.js';
import { JournalCorrupt } from './journal-errors.js';

/** As the database counts them. Somebody who can write a topic could else begin one that no owner can follow. */
export const LAST_EPOCH = 2_147_483_647;

/** A record as a store gives it back, not to be believed yet. */
export interface StoredRecord {
  readonly sequence: number;
  readonly epoch: number;
  readonly kind: string;
  readonly payload: string;
  readonly hash: string;
  readonly seal?: Buffer | null | undefined;
}

/** The records as entries, provided that each follows the one before it and the first follows `before`. */
export function checkRun(
  shard: number,
  before: JournalHead,
  records: Iterable<StoredRecord>,
): JournalEntry[] {
  const entries: JournalEntry[] = [];
  let last = before;
  for (const record of records) {
    entries.push(checkNext(shard, last, record));
    last = record;
  }
  return entries;
}

/** The record as an entry, provided that it is the one that follows `before`. */
export function checkNext(shard: number, before: JournalHead, record: StoredRecord): JournalEntry {
  const { sequence, epoch, payload, hash } = record;
  const expected = before.sequence + 1;
  if (sequence > expected) throw new JournalCorrupt(shard, expected, 'the record is missing');
  if (sequence < expected) throw new JournalCorrupt(shard, sequence, 'the sequence appears twice');
  const kind = kindOf(shard, record);
  checkEpoch(shard, before, kind, record);
  const entry = { shard, epoch, sequence, kind, payload, previousHash: before.hash };
  if (recordHash(entry) !== hash) {
    throw new JournalCorrupt(shard, sequence, 'its hash is not that of its content and of the record before');
  }
  return isPresent(record.seal) ? { ...entry, hash, seal: record.seal } : { ...entry, hash };
}

export function isPresent(seal: StoredRecord['seal']): seal is Buffer {
  return seal !== null && seal !== undefined;
}

function kindOf(shard: number, { kind, sequence }: StoredRecord): EntryKind {
  if (kind === 'epoch' || kind === 'event') return kind;
  throw new JournalCorrupt(shard, sequence, `"${kind}" is no kind of record`);
}

function checkEpoch(
  shard: number,
  before: JournalHead,
  kind: EntryKind,
  { sequence, epoch }: StoredRecord,
): void {
  if (epoch > LAST_EPOCH) {
    throw new JournalCorrupt(shard, sequence, `epoch ${epoch} is more than any owner can have begun`);
  }
  if (kind === 'epoch' && epoch <= before.epoch) {
    throw new JournalCorrupt(shard, sequence, `epoch ${epoch} begins after epoch ${before.epoch}`);
  }
  if (kind === 'event' && epoch !== before.epoch) {
    throw new JournalCorrupt(shard, sequence, `an event of epoch ${epoch} stands in epoch ${before.epoch}`);
  }
}
