import type { StoredRecord } from '../chain-check.js';
import type { JournalEntry } from '../journal.js';

/** A record of the journal and its offset. */
export interface Anchor {
  readonly offset: number;
  readonly sequence: number;
}

/**
 * The format of a record in its topic. Its anchor is an earlier record after which, as far as its writer knew, there are only this
 * writer's messages, so that offsets can be counted; an epoch record's anchor is the record before it. Anchors make any sequence
 * findable without an index. They are hints: not part of the hash, and always checked.
 */
export interface LogRecord extends StoredRecord {
  readonly anchor: Anchor | undefined;
  readonly seal: Buffer | undefined;
}

const VERSION = '1';
const NO_ANCHOR = '-';
const NEWLINE = 0x0a;
const SPACE = 0x20;
const DASH = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const VERSION_BYTE = VERSION.charCodeAt(0);
const BASE = 10;
const MOST_DIGITS = 16;
const HASH_LENGTH = 64;
/** Lookup tables by byte value. */
const IS_LETTER = tableOf('abcdefghijklmnopqrstuvwxyz');
const IS_HEX = tableOf('0123456789abcdef');

function tableOf(letters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(letters)) table[byte] = 1;
  return table;
}

/** A line of fields, then the payload unchanged. */
export function encodeRecord(
  { epoch, sequence, kind, hash, payload }: JournalEntry,
  anchor: Anchor | undefined,
): Buffer {
  const [offset, first] = anchor === undefined ? [NO_ANCHOR, NO_ANCHOR] : [anchor.offset, anchor.sequence];
  return Buffer.from(`${VERSION} ${epoch} ${sequence} ${kind} ${offset} ${first} ${hash}\n${payload}`);
}

/** Undefined if the value is not a record. The MAC comes from a header of the message. */
export function decodeRecord(value: Buffer, seal?: Buffer): LogRecord | undefined {
  if (value[0] !== VERSION_BYTE || value[1] !== SPACE) return undefined;
  const line = new Line(value, 2);
  const epoch = line.number();
  const sequence = line.number();
  const kind = line.word();
  const offset = line.numberOrNone();
  const first = line.numberOrNone();
  const hash = line.hash();
  if (line.isBroken) return undefined;
  const hasAnchor = offset !== undefined && first !== undefined;
  return {
    epoch,
    sequence,
    kind,
    hash,
    payload: value.subarray(line.at),
    seal,
    anchor: hasAnchor ? { offset, sequence: first } : undefined,
  };
}

/**
 * Reads the fields byte by byte: recovery reads every record of a journal, and a regular expression needs a text first. Each field
 * ends with one space, the last with a line break.
 */
class Line {
  isBroken = false;

  constructor(
    private readonly bytes: Buffer,
    public at: number,
  ) {}

  number(): number {
    const { bytes } = this;
    const start = this.at;
    let value = 0;
    let byte = bytes[this.at] ?? 0;
    while (byte >= ZERO && byte <= NINE) {
      value = value * BASE + (byte - ZERO);
      byte = bytes[(this.at += 1)] ?? 0;
    }
    const digits = this.at - start;
    const isPadded = digits > 1 && bytes[start] === ZERO;
    this.end(digits > 0 && digits <= MOST_DIGITS && !isPadded, SPACE);
    return value;
  }

  numberOrNone(): number | undefined {
    if (this.bytes[this.at] !== DASH) return this.number();
    this.at += 1;
    this.end(true, SPACE);
    return undefined;
  }

  word(): string {
    const start = this.pass(IS_LETTER);
    const text = this.bytes.toString('latin1', start, this.at);
    this.end(this.at > start, SPACE);
    return text;
  }

  hash(): string {
    const start = this.pass(IS_HEX);
    const text = this.bytes.toString('latin1', start, this.at);
    this.end(this.at - start === HASH_LENGTH, NEWLINE);
    return text;
  }

  /** The start of the current field. */
  private pass(table: Uint8Array): number {
    const start = this.at;
    while (table[this.bytes[this.at] ?? 0] === 1) this.at += 1;
    return start;
  }

  private end(isSound: boolean, separator: number): void {
    if (!isSound || this.bytes[this.at] !== separator) this.isBroken = true;
    this.at += 1;
  }
}
