import { Packed } from './packed.js';
import { Unpacked } from './unpacked.js';

/** What Java's clients and brokers put before it; others send one block as it is. */
const XERIAL = Buffer.from([0x82, ...Buffer.from('SNAPPY'), 0x00]);
/** Its version, and the oldest that can read it. */
const XERIAL_VERSIONS = 8;
const INT32 = 4;
const MORE = 0x80;
const LAST_7_BITS = 0x7f;
const MOST_LENGTH_BYTES = 5;
/** From here on the length of literals stands in bytes of its own. */
const LONG = 60;

/** At most `limit` bytes; throws where it is no snappy, in blocks of Java or one that is bare. */
export function unpackSnappy(bytes: Buffer, limit: number): Buffer {
  if (!bytes.subarray(0, XERIAL.length).equals(XERIAL)) return unpackBlock(bytes, limit);
  const packed = new Packed(bytes);
  packed.take(XERIAL.length + XERIAL_VERSIONS);
  const blocks: Buffer[] = [];
  let left = limit;
  while (packed.left > 0) {
    const block = unpackBlock(packed.take(packed.take(INT32).readUInt32BE(0)), left);
    left -= block.length;
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

function unpackBlock(bytes: Buffer, limit: number): Buffer {
  const packed = new Packed(bytes);
  const length = lengthOf(packed);
  if (length > limit) throw new Error(`it is more than ${limit} bytes`);
  const unpacked = new Unpacked(length, length);
  while (packed.left > 0) unpackElement(packed, unpacked);
  if (unpacked.content.length !== length) throw new Error('it is less than it says');
  return unpacked.content;
}

function lengthOf(packed: Packed): number {
  let length = 0;
  for (let read = 0; read < MOST_LENGTH_BYTES; read += 1) {
    const byte = packed.byte();
    length += (byte & LAST_7_BITS) * 128 ** read;
    if (byte < MORE) return length;
  }
  throw new Error('it has no length');
}

/** Its kind stands in the last two bits: bytes as they are, or bytes of before, from 1, 2 or 4 bytes of distance. */
function unpackElement(packed: Packed, unpacked: Unpacked): void {
  const tag = packed.byte();
  const upper = tag >>> 2;
  switch (tag & 0b11) {
    case 0:
      unpacked.add(packed.take(1 + (upper < LONG ? upper : packed.number(upper - LONG + 1))));
      return;
    case 1:
      unpacked.repeat((upper >>> 3) * 256 + packed.byte(), 4 + (upper & 0b111));
      return;
    case 2:
      unpacked.repeat(packed.number(2), 1 + upper);
      return;
    default:
      unpacked.repeat(packed.number(4), 1 + upper);
  }
}
