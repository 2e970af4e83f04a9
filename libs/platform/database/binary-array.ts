/** The encoding of values of one type in an array of PostgreSQL's binary format. */
export interface ElementType<T> {
  /** Fixed in PostgreSQL's catalogue. */
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

/** From hex digits. */
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
 * A one-dimensional array, which the driver passes on unchanged. In the driver's text format it would escape every quote of every
 * value, and the server would undo that.
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

/** A larger array gets its own memory, so that it does not stay for ever. */
const MOST_KEPT_BYTES = 1_048_576;

/**
 * One buffer for arrays that are sent one after the other. A buffer for each costs more than filling it: V8 collects the whole heap
 * for every few dozen megabytes of external memory.
 */
export class ArrayRoom {
  private kept = Buffer.alloc(0);

  /** Valid until the next call, which overwrites it. */
  take(bytes: number): Buffer {
    if (bytes > MOST_KEPT_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.kept.length) this.kept = Buffer.allocUnsafeSlow(Math.min(2 * bytes, MOST_KEPT_BYTES));
    return this.kept.subarray(0, bytes);
  }
}
