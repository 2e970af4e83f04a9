/** How values of one type are encoded in an array of PostgreSQL's binary format. */
export interface ElementType<T> {
  /** The type's id in PostgreSQL's catalogue. */
  readonly oid: number;
  readonly sizeOf: (value: T) => number;
  /** Returns the number of written bytes. */
  readonly write: (array: Buffer, value: T, at: number) => number;
}

export const TEXT: ElementType<string> = {
  oid: 25,
  sizeOf: (text) => Buffer.byteLength(text),
  write: (array, text, at) => array.write(text, at),
};

/** Values are given as hex digits. */
export const BYTEA: ElementType<string> = {
  oid: 17,
  sizeOf: (hex) => hex.length / 2,
  write: (array, hex, at) => array.write(hex, at, 'hex'),
};

const BIGINT_BYTES = 8;

export const BIGINT: ElementType<number | bigint> = {
  oid: 20,
  sizeOf: () => BIGINT_BYTES,
  write: (array, value, at) => array.writeBigInt64BE(BigInt(value), at) - at,
};

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * Encodes a one-dimensional array, which the driver passes on unchanged. The driver's text format would escape every quote of
 * every value, and the server would have to undo that.
 */
export function binaryArray<T>(type: ElementType<T>, items: readonly (T | null)[], room?: ArrayRoom): Buffer {
  let size = HEADER_BYTES + LENGTH_BYTES * items.length;
  for (const item of items) if (item !== null) size += type.sizeOf(item);
  const array = room?.take(size) ?? Buffer.allocUnsafe(size);
  const dimensions = 1;
  const hasNulls = items.includes(null) ? 1 : 0;
  const firstIndex = 1;
  let at = 0;
  for (const word of [dimensions, hasNulls, type.oid, items.length, firstIndex]) {
    at = array.writeInt32BE(word, at);
  }
  for (const item of items) {
    const length = item === null ? NULL_LENGTH : type.write(array, item, at + LENGTH_BYTES);
    array.writeInt32BE(length, at);
    at += LENGTH_BYTES + Math.max(0, length);
  }
  return array;
}

/** A larger array gets memory of its own, so that it is released afterwards. */
const MAX_REUSED_BYTES = 1_048_576;

/**
 * One buffer for arrays that are sent one after the other. A new buffer for each would cost more than filling it, because V8
 * collects the whole heap for every few dozen megabytes of external memory.
 */
export class ArrayRoom {
  private buffer = Buffer.alloc(0);

  /** Returns memory that the next call overwrites. */
  take(bytes: number): Buffer {
    if (bytes > MAX_REUSED_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.buffer.length)
      this.buffer = Buffer.allocUnsafeSlow(Math.min(2 * bytes, MAX_REUSED_BYTES));
    return this.buffer.subarray(0, bytes);
  }
}
