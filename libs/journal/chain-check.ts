import { isUtf8 } from 'node:buffer';
import { hashOfBytes } from './hash-chain.js';
import type { EntryKind, JournalEntry, JournalHead } from './journal.js';
import { JournalCorrupt } from './journal-errors.js';

/** The database's maximum. Without a bound, anyone who may write to a topic could begin an epoch that no owner can follow. */
export const LAST_EPOCH = 2_147_483_647;

/** Stands for bytes that are no UTF-8; a valid text may contain it as well. */
const NO_TEXT = '\uFFFD';

/** A record as a store returns it, unchecked. */
export interface StoredRecord {
  readonly sequence: number;
  readonly epoch: number;
  readonly kind: string;
  /** The stored bytes that the hash covers. */
  readonly payload: Buffer;
  readonly hash: string;
  readonly seal?: Buffer | null | undefined;
}

/** The record as an entry. Throws if it does not follow `before`. */
export function checkNext(shard: number, before: JournalHead, record: StoredRecord): JournalEntry {
  const { sequence, epoch, hash } = record;
  const expected = before.sequence + 1;
  if (sequence > expected) throw new JournalCorrupt(shard, expected, 'the record is missing');
  if (sequence < expected) throw new JournalCorrupt(shard, sequence, 'the sequence appears twice');
  const kind = kindOf(shard, record);
  checkEpoch(shard, before, kind, record);
  const { hash: previousHash } = before;
  if (hashOfBytes({ shard, epoch, sequence, kind, previousHash }, record.payload) !== hash) {
    throw new JournalCorrupt(shard, sequence, 'its hash is not that of its content and of the record before');
  }
  const payload = textOf(shard, record);
  const entry = { shard, epoch, sequence, kind, payload, previousHash, hash };
  return isPresent(record.seal) ? { ...entry, seal: record.seal } : entry;
}

/** Bytes that are not UTF-8 would be read as another text than the hashed one. */
function textOf(shard: number, { payload, sequence }: StoredRecord): string {
  const text = payload.toString();
  if (text.includes(NO_TEXT) && !isUtf8(payload))
    throw new JournalCorrupt(shard, sequence, 'its payload is not UTF-8');
  return text;
}

export function isPresent(seal: StoredRecord['seal']): seal is Buffer {
  return seal !== null && seal !== undefined;
}

function kindOf(shard: number, { kind, sequence }: StoredRecord): EntryKind {
  if (kind === 'epoch' || kind === 'event') return kind;
  throw new JournalCorrupt(shard, sequence, `"${kind}" is not a kind of record`);
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
    throw new JournalCorrupt(
      shard,
      sequence,
      `an event of epoch ${epoch} is recorded in epoch ${before.epoch}`,
    );
  }
}
