import type { StoredRecord } from '../chain-check.js';
import type { JournalEntry } from '../journal.js';

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
const NO_ANCHOR = '-';
const NEWLINE = 0x0a;
const NUMBER = '0|[1-9]\\d{0,15}';
const LINE = new RegExp(
  `^${VERSION} (${NUMBER}) (${NUMBER}) ([a-z]+) (${NUMBER}|${NO_ANCHOR}) (${NUMBER}|${NO_ANCHOR}) ([0-9a-f]{64})$`,
);

/** A line of fields, then the payload as it came. */
export function encodeRecord(
  { epoch, sequence, kind, hash, payload }: JournalEntry,
  anchor: Anchor | undefined,
): Buffer {
  const [offset, first] = anchor === undefined ? [NO_ANCHOR, NO_ANCHOR] : [anchor.offset, anchor.sequence];
  return Buffer.from(`${VERSION} ${epoch} ${sequence} ${kind} ${offset} ${first} ${hash}\n${payload}`);
}

/** Undefined for what is no record. */
export function decodeRecord(value: Buffer): LogRecord | undefined {
  const end = value.indexOf(NEWLINE);
  const fields = end < 0 ? null : LINE.exec(value.toString('latin1', 0, end));
  if (fields === null) return undefined;
  const [, epoch, sequence, kind = '', offset, first, hash = ''] = fields;
  const hasAnchor = offset !== NO_ANCHOR && first !== NO_ANCHOR;
  return {
    epoch: Number(epoch),
    sequence: Number(sequence),
    kind,
    hash,
    payload: value.toString('utf8', end + 1),
    anchor: hasAnchor ? { offset: Number(offset), sequence: Number(first) } : undefined,
  };
}
