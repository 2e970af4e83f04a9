import { describe, expect, it } from '@jest/globals';
import { ArrayRoom, binaryArray, TEXT } from './binary-array.js';

const MEBIBYTE = 1_048_576;

describe('a reused buffer for arrays', () => {
  it('gives the same encoding as a new buffer, whatever it held before', () => {
    const room = new ArrayRoom();
    for (const items of [
      ['a long one', null, 'ü'.repeat(5_000)],
      ['short'],
      [],
      ['x'.repeat(2 * MEBIBYTE)],
    ]) {
      expect(binaryArray(TEXT, items, room).equals(binaryArray(TEXT, items))).toBe(true);
    }
  });

  it('reuses its memory', () => {
    const room = new ArrayRoom();
    const memory = new Set(Array.from({ length: 50 }, () => room.take(90_000).buffer));
    expect(memory.size).toBe(1);
  });

  it('does not retain large buffers', () => {
    const room = new ArrayRoom();
    const [small, large] = [room.take(100).buffer, room.take(2 * MEBIBYTE).buffer];
    expect(room.take(100).buffer).toBe(small);
    expect(large).not.toBe(small);
  });
});
