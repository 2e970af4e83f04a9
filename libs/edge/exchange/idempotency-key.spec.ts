import { describe, expect, it } from '@jest/globals';
import { idempotencyKey } from './idempotency-key.js';

function verdict(...keys: string[]): string {
  const { key, fault } = idempotencyKey(keys);
  return fault ?? key;
}

const REQUIRED = 'key-required';
const DIFFERENT = 'key-mismatch';

describe('the idempotency key', () => {
  it.each(['a', 'A-z.0_9:', 'x'.repeat(128)])('%s is valid', (key) => {
    expect(verdict(key)).toBe(key);
    expect(verdict(key, key, key)).toBe(key);
  });

  it.each(['', ' ', 'a b', 'a,b', 'é', 'a/b', 'a\n', 'x'.repeat(129)])('%j counts as missing', (key) => {
    expect(verdict(key)).toBe(REQUIRED);
    expect(verdict(key, key)).toBe(REQUIRED);
  });

  it('is required', () => {
    expect(verdict()).toBe(REQUIRED);
  });

  it.each([
    ['a', 'b'],
    ['a', 'A'],
    ['a', 'a b'],
    ['a b', 'a'],
    ['', 'a'],
    ['a', 'a', 'b'],
  ])('conflicts with a different one: %j and %j', (...keys) => {
    expect(verdict(...keys)).toBe(DIFFERENT);
  });
});
