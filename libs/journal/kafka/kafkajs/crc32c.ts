const POLYNOMIAL = 0x82f63b78;
const SLICES = 8;
const VALUES = 256;
const TABLES = tables();

/** The checksum of record batches (Castagnoli), eight bytes at a time: it is most of the cost of a batch. */
export function crc32c(bytes: Buffer): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  const whole = bytes.length - (bytes.length % SLICES);
  let crc = -1;
  let at = 0;
  for (; at < whole; at += SLICES) {
    const low = crc ^ bytes.readInt32LE(at);
    const high = bytes.readInt32LE(at + 4);
    crc =
      entry(t7, low) ^
      entry(t6, low >>> 8) ^
      entry(t5, low >>> 16) ^
      entry(t4, low >>> 24) ^
      entry(t3, high) ^
      entry(t2, high >>> 8) ^
      entry(t1, high >>> 16) ^
      entry(t0, high >>> 24);
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ entry(t0, crc ^ (bytes[at] ?? 0));
  return ~crc >>> 0;
}

function entry(table: Int32Array, value: number): number {
  return table[value & 0xff] ?? 0;
}

type Tables = readonly [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

function tables(): Tables {
  const first = Int32Array.from({ length: VALUES }, (_, value) => {
    let crc = value;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    return crc;
  });
  const shifted = (table: Int32Array): Int32Array => table.map((crc) => (crc >>> 8) ^ entry(first, crc));
  const second = shifted(first);
  const third = shifted(second);
  const fourth = shifted(third);
  const fifth = shifted(fourth);
  const sixth = shifted(fifth);
  const seventh = shifted(sixth);
  return [first, second, third, fourth, fifth, sixth, seventh, shifted(seventh)];
}
