import type { StoredRecord } from '../chain-check.js';
import type { JournalEntry } from '../journal.js';
import { JournalCorrupt } from '../journal-errors.js';

/** A record of the journal and where it stands. */
export interface Anchor {
  readonly offset: number;
  readonly sequence: number;
}

/**
 * How a record stands in its topic. Its anchor is an earlier record behind which, as far as its writer knew, there is nothing
 * but this writer's own, so that places can be counted from there; an epoch record's is the record before it. Following the
 * anchors, any sequence is found without an index. They are hints, no part of the hash, and never believed unseen.
 */
export interface LogRecord extends StoredRecord {
  readonly anchor: Anchor | undefined;
}

const VERSION = '1';
const FIELDS = 7;
const NO_ANCHOR = '-';
const NEWLINE = 0x0a;
const WHOLE = /^(0|[1-9]\d{0,15})$/;
const HASH = /^[0-9a-f]{64}$/;

/** A line of fields, then the payload as it came. */
export function encodeRecord(
  { epoch, sequence, kind, hash, payload }: JournalEntry,
  anchor: Anchor | undefined,
): Buffer {
  const [offset, first] = anchor === undefined ? [NO_ANCHOR, NO_ANCHOR] : [anchor.offset, anchor.sequence];
  return Buffer.from(`${VERSION} ${epoch} ${sequence} ${kind} ${offset} ${first} ${hash}\n${payload}`);
}

export function decodeRecord(shard: number, offset: number, value: Buffer): LogRecord {
  const end = value.indexOf(NEWLINE);
  const fields = end < 0 ? [] : value.toString('latin1', 0, end).split(' ');
  const [version, epoch = '', sequence = '', kind = '', anchorOffset = '', anchorSequence = '', hash = ''] =
    fields;
  const hasAnchor = WHOLE.test(anchorOffset) && WHOLE.test(anchorSequence);
  const isReadable =
    fields.length === FIELDS &&
    version === VERSION &&
    WHOLE.test(epoch) &&
    WHOLE.test(sequence) &&
    HASH.test(hash) &&
    (hasAnchor || (anchorOffset === NO_ANCHOR && anchorSequence === NO_ANCHOR));
  if (!isReadable) throw new JournalCorrupt(shard, 0, `offset ${offset} of its topic holds no record`);
  return {
    epoch: Number(epoch),
    sequence: Number(sequence),
    kind,
    hash,
    payload: value.toString('utf8', end + 1),
    anchor: hasAnchor ? { offset: Number(anchorOffset), sequence: Number(anchorSequence) } : undefined,
  };
}
