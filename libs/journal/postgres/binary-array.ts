/** Object ids of element types; fixed for ever in PostgreSQL's catalogue. */
export const TEXT = 25;
export const BYTEA = 17;

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/**
 * A one-dimensional array in PostgreSQL's binary format, which the driver passes on as it is. Its own text format would escape
 * every quote of every payload and have the server take them out again.
 */
export function binaryArray(elementType: number, items: readonly string[], encoding: 'utf8' | 'hex'): Buffer {
  let size = HEADER_BYTES + LENGTH_BYTES * items.length;
  for (const item of items) size += Buffer.byteLength(item, encoding);
  const array = Buffer.allocUnsafe(size);
  const dimensions = 1;
  const hasNulls = 0;
  const firstIndex = 1;
  let at = 0;
  for (const word of [dimensions, hasNulls, elementType, items.length, firstIndex]) {
    at = array.writeInt32BE(word, at);
  }
  for (const item of items) {
    const length = array.write(item, at + LENGTH_BYTES, encoding);
    array.writeInt32BE(length, at);
    at += LENGTH_BYTES + length;
  }
  return array;
}
