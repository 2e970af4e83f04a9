import type { LogMessage } from '../topic-log.js';
import { BATCH, FORMAT, PREFIX, SEAL_HEADER } from './batch-layout.js';

/** Compressed, or not data but a marker of a transaction: nothing that a journal's writer makes. */
const FOREIGN = 0b10_0111;
const NOTHING = Buffer.alloc(0);
/** Seven numbers, each of one byte at least. */
const LEAST_RECORD_BYTES = 7;
const LAST_7_BITS = 0x7f;
const MORE = 0x80;

/**
 * The messages of whole record batches, from an offset on; a last batch that is cut off is left out. kafkajs's own decoder makes a
 * dozen objects of each record. Checksums are left to the hash chain, but what a batch says of itself is not believed further than it
 * goes: a bit that a disk has lost must not be read as millions of messages, nor a message at a place where none was written. What no
 * journal's writer can have written comes as one empty message, which is no record.
 */
export function readBatches(bytes: Buffer, from: number): LogMessage[] {
  const messages: LogMessage[] = [];
  let at = 0;
  while (at + BATCH.records <= bytes.length) {
    const end = at + PREFIX + bytes.readInt32BE(at + BATCH.length);
    if (end > bytes.length) break;
    const base = Number(bytes.readBigInt64BE(at));
    const batch = bytes.subarray(at, Math.max(end, at + BATCH.records));
    if (!isOurs(batch, end - at)) {
      messages.push({ offset: Math.max(base, from), value: NOTHING });
      // Nobody can say where the next one begins.
      if (end < at + BATCH.records) break;
    } else if (base + batch.readInt32BE(BATCH.lastOffsetDelta) >= from) {
      const isWhole = readRecords(batch, base, from, messages);
      if (!isWhole) break;
    }
    at = end;
  }
  return messages;
}

/** Data of this format, plain and whole: as many records as offsets, and room for them. */
function isOurs(batch: Buffer, length: number): boolean {
  const count = batch.readInt32BE(BATCH.count);
  return (
    batch.readInt8(BATCH.magic) === FORMAT &&
    (batch.readInt16BE(BATCH.attributes) & FOREIGN) === 0 &&
    count === batch.readInt32BE(BATCH.lastOffsetDelta) + 1 &&
    count > 0 &&
    count <= (length - BATCH.records) / LEAST_RECORD_BYTES
  );
}

/** Whether they fill the batch, one behind the other and each at its own place. Where they do not, the first that is wrong is the last. */
function readRecords(batch: Buffer, base: number, from: number, messages: LogMessage[]): boolean {
  const cursor = new Varints(batch, BATCH.records);
  const count = batch.readInt32BE(BATCH.count);
  for (let read = 0; read < count; read += 1) {
    const length = cursor.next();
    const end = cursor.at + length;
    // The attributes, of which none is in use.
    cursor.at += 1;
    cursor.skip();
    const offset = base + read;
    if (cursor.next() !== read || end > batch.length) return nothingAt(offset, from, messages);
    if (offset >= from) {
      const key = cursor.next();
      cursor.at += Math.max(0, key);
      const size = cursor.next();
      const value = size < 0 ? NOTHING : batch.subarray(cursor.at, cursor.at + size);
      cursor.at += Math.max(0, size);
      const seal = readSeal(batch, cursor);
      // It would be taken for a record without its seal, and so for a forged one.
      if (cursor.at !== end) return nothingAt(offset, from, messages);
      messages.push(seal === undefined ? { offset, value } : { offset, value, seal });
    }
    cursor.at = end;
  }
  return cursor.at === batch.length || nothingAt(base + count, from, messages);
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
