import { describe, expect, it } from '@jest/globals';
import { HotAccounts } from './hot-accounts.js';

describe('hot accounts', () => {
  it('are remembered for a while after a conflict, each once', () => {
    const hot = new HotAccounts(100n);
    hot.mark(['a', 'b'], 0n);
    hot.mark(['b'], 50n);
    expect(hot.among(['a', 'b', 'b', 'c'], 99n)).toEqual(['a', 'b']);
    expect(hot.among(['a', 'b', 'c'], 100n)).toEqual(['b']);
    expect(hot.among(['a', 'b', 'c'], 150n)).toEqual([]);
  });

  it('are limited in number; the latest ones stay', () => {
    const hot = new HotAccounts(100n);
    hot.mark(
      Array.from({ length: 5_000 }, (_, index) => `a${index}`),
      0n,
    );
    expect(hot.among(['a0', 'a903', 'a904', 'a4999'], 1n)).toEqual(['a904', 'a4999']);
  });
});
