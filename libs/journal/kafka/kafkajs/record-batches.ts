import { MAX_BATCH_RECORDS } from '../../limits.js';
import type { LogMessage } from '../topic-log.js';
import { BATCH, FORMAT, PREFIX, SEAL_HEADER } from './write-batch.js';

/** Marks a transaction and carries no data; a journal's writer makes none. */
const MARKER = 0b10_0000;
/** The compression codec; 0 without compression. */
const CODEC = 0b111;
const COMPRESSED =
  'a broker has compressed its batch, which nothing here reads: set compression.type=producer on the topic';
const NOTHING = Buffer.alloc(0);
/** Seven numbers, each of one byte at least. */
const LEAST_RECORD_BYTES = 7;
/**
 * An append holds a fourth of this. A short batch may claim millions of messages, and each costs its reader an object: a batch
 * that claims more than a journal's could have yields none.
 */
const MOST_RECORDS = 4 * MAX_BATCH_RECORDS;
const LAST_7_BITS = 0x7f;
const MORE = 0x80;

export interface Batches {
  readonly messages: readonly LogMessage[];
  /** Why the next batch, which arrived whole, yields no messages. */
  readonly doubt?: string;
}

/**
 * The messages of whole record batches, from an offset on; leaves out a last batch that is cut off. The claims of a batch are
 * checked, so that a flipped bit yields neither millions of messages nor one at a false offset. A batch that no journal's writer
 * can have written, a compressed one included, yields one empty message, which is no record. See docs/decisions/08.
 */
export function readBatches(bytes: Buffer, from: number): Batches {
  const messages: LogMessage[] = [];
  let at = 0;
  while (at + BATCH.records <= bytes.length) {
    const end = at + PREFIX + bytes.readInt32BE(at + BATCH.length);
    if (end > bytes.length) break;
    const base = Number(bytes.readBigInt64BE(at));
    const batch = bytes.subarray(at, Math.max(end, at + BATCH.records));
    if (end < at + BATCH.records || !isOurs(batch)) {
      nothingAt(base, from, messages);
      // The start of the next one is unknown.
      if (end < at + BATCH.records) break;
    } else if (base + batch.readInt32BE(BATCH.lastOffsetDelta) >= from) {
      if (isCompressed(batch)) return { messages, doubt: COMPRESSED };
      const records = batch.subarray(BATCH.records);
      if (!hasRoom(batch, records)) nothingAt(base, from, messages);
      else if (!readRecords(records, { base, count: countOf(batch), from }, messages)) break;
    }
    at = end;
  }
  return { messages };
}

/** Data of this format, with as many records as offsets. */
function isOurs(batch: Buffer): boolean {
  const attributes = batch.readInt16BE(BATCH.attributes);
  const count = countOf(batch);
  return (
    batch.readInt8(BATCH.magic) === FORMAT &&
    (attributes & MARKER) === 0 &&
    count === batch.readInt32BE(BATCH.lastOffsetDelta) + 1 &&
    count > 0 &&
    count <= MOST_RECORDS
  );
}

function countOf(batch: Buffer): number {
  return batch.readInt32BE(BATCH.count);
}

function isCompressed(batch: Buffer): boolean {
  return (batch.readInt16BE(BATCH.attributes) & CODEC) !== 0;
}

function hasRoom(batch: Buffer, records: Buffer): boolean {
  return countOf(batch) <= records.length / LEAST_RECORD_BYTES;
}

interface RecordsBounds {
  /** Offset of the first. */
  readonly base: number;
  readonly count: number;
  readonly from: number;
}

/** Whether they fill the batch, consecutive and each at its own offset. Otherwise the first wrong one is the last. */
function readRecords(records: Buffer, { base, count, from }: RecordsBounds, messages: LogMessage[]): boolean {
  const cursor = new Varints(records, 0);
  for (let read = 0; read < count; read += 1) {
    const length = cursor.next();
    const end = cursor.at + length;
    // The attributes, all unused.
    cursor.at += 1;
    cursor.skip();
    const offset = base + read;
    if (cursor.next() !== read || end > records.length) return nothingAt(offset, from, messages);
    if (offset >= from) {
      const key = cursor.next();
      cursor.at += Math.max(0, key);
      const size = cursor.next();
      const value = size < 0 ? NOTHING : records.subarray(cursor.at, cursor.at + size);
      cursor.at += Math.max(0, size);
      const seal = readSeal(records, cursor);
      // It would look like a record without its MAC, and so like a forged one.
      if (cursor.at !== end) return nothingAt(offset, from, messages);
      messages.push(seal === undefined ? { offset, value } : { offset, value, seal });
    }
    cursor.at = end;
  }
  return cursor.at === records.length || nothingAt(base + count, from, messages);
}

function nothingAt(offset: number, from: number, messages: LogMessage[]): false {
  messages.push({ offset: Math.max(offset, from), value: NOTHING });
  return false;
}

/** A message's first header, if it has one; our writers add no other. A copy, because it outlives the batch. */
function readSeal(batch: Buffer, cursor: Varints): Buffer | undefined {
  if (cursor.next() === 0) return undefined;
  const name = cursor.next();
  if (!batch.subarray(cursor.at, cursor.at + name).equals(SEAL_HEADER)) return undefined;
  cursor.at += name;
  const size = cursor.next();
  if (size < 0) return undefined;
  const seal = batch.subarray(cursor.at, cursor.at + size);
  cursor.at += size;
  return Buffer.from(seal);
}

/** Variable-length numbers, zigzag-encoded. */
class Varints {
  at: number;

  constructor(
    private readonly bytes: Buffer,
    start: number,
  ) {
    this.at = start;
  }

  next(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at] ?? 0;
      this.at += 1;
      value |= (byte & LAST_7_BITS) << shift;
      if (byte < MORE) break;
    }
    return (value >>> 1) ^ -(value & 1);
  }

  /** For numbers of up to 64 bits. */
  skip(): void {
    while ((this.bytes[this.at] ?? 0) >= MORE) this.at += 1;
    this.at += 1;
  }
}
