import { describe, expect, it } from '@jest/globals';
import { BoundedCache } from './bounded-cache.js';

describe('a bounded cache', () => {
  it('evicts the least recently used entry', () => {
    const cache = new BoundedCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).toBe(1);
    cache.set('c', 3);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  });

  it('never exceeds its size', () => {
    const cache = new BoundedCache<number>(10);
    for (let number = 0; number < 1_000; number += 1) cache.set(String(number), number);
    expect(cache.size).toBe(10);
    expect(cache.get('999')).toBe(999);
  });

  it('holds an entry once if it is set again', () => {
    const cache = new BoundedCache<number>(2);
    cache.set('a', 1);
    cache.set('a', 2);
    expect([cache.size, cache.get('a')]).toEqual([1, 2]);
    cache.delete('a');
    expect(cache.get('a')).toBeUndefined();
  });
});
