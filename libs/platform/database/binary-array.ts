import type { ArrayRoom } from './array-room.js';

/** How values of one type stand in an array of PostgreSQL's binary format. */
export interface ElementType<T> {
  /** Fixed for ever in PostgreSQL's catalogue. */
  readonly oid: number;
  readonly sizeOf: (value: T) => number;
  /** Returns how many bytes it has written. */
  readonly write: (array: Buffer, value: T, at: number) => number;
}

export const TEXT: ElementType<string> = {
  oid: 25,
  sizeOf: (text) => Buffer.byteLength(text),
  write: (array, text, at) => array.write(text, at),
};

/** Given as hex digits. */
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
 * A one-dimensional array, which the driver passes on as it is. Its own text format would escape every quote of every value and
 * have the server take them out again.
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
