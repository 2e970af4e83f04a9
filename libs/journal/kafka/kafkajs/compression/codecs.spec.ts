import zlib from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { codecOf, MOST_UNPACKED_BYTES, unpack } from './codecs.js';
import { unpackSnappy } from './snappy.js';

const lines = Array.from({ length: 40 }, (_, at) => `record ${at % 7} of ${at * at}\n`);
const TEXT = Buffer.from(`${lines.join('')}${'x'.repeat(1_000)}`);

/** What Kafka 4.3 itself makes of it. */
const XERIAL = Buffer.from(
  'glNOQVBQWQAAAAABAAAAAQAAAU/iDDRyZWNvcmQgMCBvZiAwCg0OADEBDgAxEQ4AMgEOADQRDgAzAQ4AOREOADQBDgQxNhEPADUBDwQyNREPADYBDwAzFR4FZQA0FTwFZgA2FVkFZwA4FXYFaAQxMBWUCWoAMhUgBWsEMTQVPwVsBDE2FV4FbQQxORV9BW4AMhmcBW8EMjUVIAVwBDI4FUAFcAQzMhVgBXAEMzYVgAVwADQZoAVwBDQ0FSAFcAQ0OBVABXAENTIVYAVwBDU3FYAFcAA2GaAFcAA2GSAFcAA3GUAFcAA3GWAFcAA4GYAFcAA5GaAFcAA5GcAFcAQxMDrhAAQxMDkCBXIEMTE5IwVzADE9RAV0CDEyORXFBXUEMTM5hgV2BDE0OacJdxA1MjEKeP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAP4BAJoBAA==',
  'base64',
);
const BARE_SNAPPY = XERIAL.subarray(20);
const LZ4 = Buffer.from(
  'BCJNGGBAgkcBAADjcmVjb3JkIDAgb2YgMAoOABAxDgAUMQ4AEDIOABQ0DgAQMw4AFDkOABA0DgAkMTYPABA1DwAkMjUPABA2DwAVMx4AAWUAFTQ8AAFmABU2WQABZwAVOHYAAWgAJTEwlAACagAVMiAAAWsAJTE0PwABbAAlMTZeAAFtACUxOX0AAW4AFjKcAAFvACUyNSAAAXAAJTI4QAABcAAlMzJgAAFwACUzNoAAAXAAFjSgAAFwACU0NCAAAXAAJTQ4QAABcAAlNTJgAAFwACU1N4AAAXAAFjagAAFwABY2IAABcAAWN0AAAXAAFjdgAAFwABY4gAABcAAWOaAAAXAAFjnAAAFwACsxMOEAJjEwAgEBcgAmMTEjAQFzABcxRAEBdAAmMTJlAQF1ACYxM4YBAXYAJjE0pwECdwBfNTIxCngBAP///9JQeHh4eHgAAAAA',
  'base64',
);
const PACKED: readonly (readonly [name: string, codec: number, bytes: Buffer])[] = [
  ['gzip', 1, zlib.gzipSync(TEXT)],
  ['snappy in blocks', 2, XERIAL],
  ['snappy as it is', 2, BARE_SNAPPY],
  ['lz4', 3, LZ4],
  ['zstd', 4, zlib.zstdCompressSync(TEXT)],
];

describe.each(PACKED)('%s', (_, codec, bytes) => {
  const unpacked = (given: Buffer): Buffer | string => unpack(codecOf(codec)!, given);

  it('gives back what was compressed', () => {
    expect(unpacked(bytes)).toEqual(TEXT);
  });

  it('that ends too early is never taken for whole', () => {
    for (let length = 0; length < bytes.length; length += 1) {
      expect(unpacked(bytes.subarray(0, length))).not.toEqual(TEXT);
    }
  });

  it('that is anything at all gives bytes within the limit, or says why it gives none', () => {
    const anyBytes = fc.uint8Array({ maxLength: 60 });
    const changed = fc.tuple(fc.nat(bytes.length - 1), anyBytes).map(([at, other]) => {
      const end = Math.min(bytes.length, at + other.length);
      return Buffer.concat([bytes.subarray(0, at), other, bytes.subarray(end)]);
    });
    const run = fc.property(
      changed,
      anyBytes.map((other) => Buffer.from(other)),
      (...all) => {
        for (const given of all) {
          const found = unpacked(given);
          if (typeof found === 'string') expect(found).toMatch(/^its batch, compressed with \w+, cannot be/);
          else expect(found.length).toBeLessThanOrEqual(MOST_UNPACKED_BYTES);
        }
      },
    );
    fc.assert(run, { numRuns: 1_000 });
  });
});

describe('a few bytes that would be very many', () => {
  const many = Buffer.alloc(MOST_UNPACKED_BYTES + 1);
  const ofSnappy = Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]), BARE_SNAPPY.subarray(2)]);
  const blocks = Array<Buffer>(30_000).fill(XERIAL.subarray(16));
  /** One literal, and a match of it that goes on and on. */
  const match = Buffer.concat([
    Buffer.from([0x1f, 0x61, 1, 0]),
    Buffer.alloc(200_000, 255),
    Buffer.from([0, 0]),
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(match.length);

  it.each([
    ['gzip', 1, zlib.gzipSync(many)],
    ['snappy', 2, ofSnappy],
    ['snappy in blocks', 2, Buffer.concat([XERIAL.subarray(0, 16), ...blocks])],
    ['lz4', 3, Buffer.concat([LZ4.subarray(0, 7), size, match, Buffer.alloc(4)])],
    ['zstd', 4, zlib.zstdCompressSync(many)],
  ])('is not made by %s', (_, codec, bytes) => {
    expect(unpack(codecOf(codec)!, bytes)).toMatch(/cannot be decompressed \(.*(bytes|more than)/);
  });
});

describe('snappy', () => {
  it.each([
    ['nothing at all', []],
    ['a length that has no end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['literals that are not there', [4, 3 << 2, 0x61]],
    ['a match of what is not there', [8, 0, 0x61, 0b1_0001, 9]],
    ['a match of itself', [8, 0, 0x61, 0b1_0001, 0]],
    ['less than it says', [9, 0, 0x61]],
    ['more than it says', [1, 1 << 2, 0x61, 0x61]],
  ])('does not take %s', (_, bytes) => {
    expect(() => unpackSnappy(Buffer.from(bytes), 100)).toThrow();
  });
});
