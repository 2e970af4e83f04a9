import { MAX_BATCH_RECORDS } from '../../limits.js';
import type { LogMessage } from '../topic-log.js';
import { BATCH, FORMAT, PREFIX, SEAL_HEADER } from './write-batch.js';

/** Not data but a marker of a transaction: nothing that a journal's writer makes. */
const MARKER = 0b10_0000;
/** With which codec it is compressed; 0 where it is not. */
const CODEC = 0b111;
const COMPRESSED =
  'a broker has compressed its batch, which nothing here reads: set compression.type=producer on the topic';
const NOTHING = Buffer.alloc(0);
/** Seven numbers, each of one byte at least. */
const LEAST_RECORD_BYTES = 7;
/**
 * An append holds a fourth of this. A batch of some bytes may say that it has millions, and each costs whoever reads it an object: of more
 * than could be a journal's none is made, however often it is looked at.
 */
const MOST_RECORDS = 4 * MAX_BATCH_RECORDS;
const LAST_7_BITS = 0x7f;
const MORE = 0x80;

export interface Batches {
  readonly messages: readonly LogMessage[];
  /** Why the batch behind them, which came whole, gives none. */
  readonly doubt?: string;
}

/**
 * The messages of whole record batches, from an offset on; a last batch that is cut off is left out. kafkajs's own decoder makes a
 * dozen objects of each record. Checksums are left to the hash chain, but what a batch says of itself is not believed further than it
 * goes: a bit that a disk has lost must not be read as millions of messages, nor a message at a place where none was written. What no
 * journal's writer can have written comes as one empty message, which is no record. Writers compress nothing. A broker does where an
 * operator sets its topic so: no such batch is read. See docs/decisions/0090.
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
      // Nobody can say where the next one begins.
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

/** Whether they fill the batch, one behind the other and each at its own place. Where they do not, the first that is wrong is the last. */
function readRecords(records: Buffer, { base, count, from }: RecordsBounds, messages: LogMessage[]): boolean {
  const cursor = new Varints(records, 0);
  for (let read = 0; read < count; read += 1) {
    const length = cursor.next();
    const end = cursor.at + length;
    // The attributes, of which none is in use.
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
      // It would be taken for a record without its seal, and so for a forged one.
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

/** Of a message's first header, if that is one; whoever writes journals here gives it no other. A copy: it is kept longer than the batch. */
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

/** Numbers of variable length, their signs in the last bit. */
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

  /** Over one of up to 64 bits. */
  skip(): void {
    while ((this.bytes[this.at] ?? 0) >= MORE) this.at += 1;
    this.at += 1;
  }
}
