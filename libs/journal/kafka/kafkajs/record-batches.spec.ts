import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import type { LogMessage } from '../topic-log.js';
import { BATCH, PREFIX, writeBatch } from './write-batch.js';
import { readBatches } from './record-batches.js';

const values = fc.array(
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  { minLength: 1, maxLength: 20 },
);

function messagesIn(bytes: Buffer): readonly LogMessage[] {
  return readBatches(bytes, 0).messages;
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return copy;
}

describe('a batch with more messages than any append has', () => {
  const batchOf = (count: number): Buffer =>
    writeBatch(
      Array.from({ length: count }, () => Buffer.from('x')),
      0n,
      new Map(),
    );

  it('becomes one message that is no record', () => {
    expect(messagesIn(batchOf(40_000))).toHaveLength(40_000);
    expect(messagesIn(batchOf(40_001))).toEqual([{ offset: 0, value: Buffer.alloc(0) }]);
  });
});

describe('a bit that a disk has flipped', () => {
  it('never yields more messages than there were', () => {
    fc.assert(
      fc.property(values, fc.nat(), (all, place) => {
        const batch = writeBatch(all, 0n, new Map());
        const damaged = flipped(batch, place % (batch.length * 8));
        expect(messagesIn(Buffer.concat([damaged, batch])).length).toBeLessThanOrEqual(2 * all.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['magic', 0],
    ['lastOffsetDelta', 3],
    ['count', 0],
    ['count', 1],
    ['count', 3],
  ] as const)('in %s, byte %i, yields no valid record', (field, byte) => {
    const batch = writeBatch([Buffer.from('a'), Buffer.from('b')], 0n, new Map());
    for (let bit = 0; bit < 8; bit += 1) {
      const read = messagesIn(flipped(batch, (BATCH[field] + byte) * 8 + bit));
      expect(read).toEqual([{ offset: 0, value: Buffer.alloc(0) }]);
    }
  });

  it('in the length of a batch leaves the whole messages, with an invalid one after them', () => {
    const batch = writeBatch([Buffer.from('a'), Buffer.from('b')], 0n, new Map());
    const behind = Buffer.concat([batch, batch]);
    for (const [more, whole] of [
      [-1, 1],
      [1, 2],
      [40, 2],
    ] as const) {
      const damaged = Buffer.from(batch);
      damaged.writeInt32BE(batch.length - PREFIX + more, BATCH.length);
      const read = messagesIn(Buffer.concat([damaged, behind]));
      expect(read.map(({ offset, value }) => [offset, String(value)])).toEqual([
        ...[0, 1].slice(0, whole).map((offset) => [offset, 'ab'[offset]]),
        [whole, ''],
      ]);
    }
  });

  it('in the length of a message leaves no message without its MAC', () => {
    const seal = Buffer.alloc(32, 7);
    const batch = writeBatch([Buffer.from('a'), Buffer.from('b')], 0n, new Map([[1, seal]]));
    expect(messagesIn(batch)).toMatchObject([{ offset: 0 }, { offset: 1, seal }]);
    for (let bit = 0; bit < 7; bit += 1) {
      expect(messagesIn(flipped(batch, BATCH.records * 8 + bit))).toEqual([
        { offset: 0, value: Buffer.alloc(0) },
      ]);
    }
    const second = batch.length - seal.length;
    for (let at = BATCH.records; at < second; at += 1) {
      for (const { value, offset, seal: read } of messagesIn(flipped(batch, at * 8 + 1))) {
        if (offset === 1 && value.length > 0) expect([at, read]).toEqual([at, seal]);
      }
    }
  });

  it('in the number of a message does not move it', () => {
    const batch = writeBatch([Buffer.from('a'), Buffer.from('b')], 0n, new Map());
    const delta = BATCH.records + 3;
    for (let bit = 0; bit < 7; bit += 1) {
      expect(messagesIn(flipped(batch, delta * 8 + bit))).toEqual([{ offset: 0, value: Buffer.alloc(0) }]);
    }
  });

  it('in the length of a batch, or in one that is too short, is not skipped', () => {
    const batch = writeBatch([Buffer.from('a')], 0n, new Map());
    for (const length of [-1_000, -12, 0, 5, 48]) {
      const damaged = Buffer.from(batch);
      damaged.writeInt32BE(length, BATCH.length);
      expect(messagesIn(Buffer.concat([damaged, batch]))).toEqual([{ offset: 0, value: Buffer.alloc(0) }]);
    }
  });
});

it.each(['gzip', 'snappy', 'lz4', 'zstd'])(
  'a batch that a broker has compressed with %s yields nothing but a reason, after the whole messages',
  (codec) => {
    const plain = writeBatch([Buffer.from('a'), Buffer.from('b')], 0n, new Map());
    const compressed = Buffer.from(plain);
    compressed.writeInt16BE(1 + ['gzip', 'snappy', 'lz4', 'zstd'].indexOf(codec), BATCH.attributes);
    expect(readBatches(Buffer.concat([plain, compressed]), 0)).toEqual({
      messages: messagesIn(plain),
      doubt: expect.stringContaining('set compression.type=producer on the topic'),
    });
  },
);
