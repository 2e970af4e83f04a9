import { Packed } from './packed.js';
import { Unpacked } from './unpacked.js';

const MAGIC = 0x184d2204;
const VERSION = 1;
const INT32 = 4;
const INT64 = 8;
const HAS_BLOCK_CHECKSUMS = 0b1_0000;
const HAS_SIZE = 0b1000;
const HAS_CHECKSUM = 0b100;
const HAS_DICTIONARY = 0b1;
const AS_IT_IS = 0x8000_0000;
const LONG = 15;
const GOES_ON = 255;
const LEAST_MATCH = 4;
/** A guess at how much smaller it has become. */
const USUAL_FACTOR = 4;

/**
 * One frame, of at most `limit` bytes; throws where it is none. Its own checksums are passed over: that of the batch, over the compressed
 * bytes, was looked at before.
 */
export function unpackLz4(bytes: Buffer, limit: number): Buffer {
  const packed = new Packed(bytes);
  if (packed.number(INT32) !== MAGIC) throw new Error('it is no frame');
  const flags = packed.byte();
  if (flags >>> 6 !== VERSION) throw new Error('its frame is of another version');
  if ((flags & HAS_DICTIONARY) !== 0) throw new Error('it wants a dictionary');
  // How large blocks may be, the size of it all, and a checksum of these.
  packed.take(1 + ((flags & HAS_SIZE) === 0 ? 0 : INT64) + 1);
  const unpacked = new Unpacked(limit, USUAL_FACTOR * bytes.length);
  for (let size = packed.number(INT32); size !== 0; size = packed.number(INT32)) {
    if (size >= AS_IT_IS) unpacked.add(packed.take(size - AS_IT_IS));
    else unpackBlock(new Packed(packed.take(size)), unpacked);
    if ((flags & HAS_BLOCK_CHECKSUMS) !== 0) packed.take(INT32);
  }
  if ((flags & HAS_CHECKSUM) !== 0) packed.take(INT32);
  if (packed.left > 0) throw new Error('it goes on behind its end');
  return unpacked.content;
}

/** Literals and a match by turns; the last literals have no match. */
function unpackBlock(packed: Packed, unpacked: Unpacked): void {
  for (;;) {
    const token = packed.byte();
    unpacked.add(packed.take(lengthOf(token >>> 4, packed)));
    if (packed.left === 0) return;
    const distance = packed.number(2);
    unpacked.repeat(distance, LEAST_MATCH + lengthOf(token & LONG, packed));
  }
}

function lengthOf(short: number, packed: Packed): number {
  let length = short;
  if (short < LONG) return length;
  for (;;) {
    const byte = packed.byte();
    length += byte;
    if (byte < GOES_ON) return length;
  }
}
