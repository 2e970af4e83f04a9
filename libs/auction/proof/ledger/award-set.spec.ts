import { expect, it } from '@jest/globals';
import { uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AwardSet } from './award-set.js';

it('has exactly the ids that were added, also after later additions', () => {
  const set = new AwardSet();
  expect(set.has(uuidNamed('0'))).toBe(false);
  for (const half of [0, 1]) {
    for (let n = half * 2_000; n < (half + 1) * 2_000; n += 1) set.add(uuidNamed(String(n)));
    for (let n = 0; n < 4_000; n += 1) {
      expect([n, set.has(uuidNamed(String(n)))]).toEqual([n, n < (half + 1) * 2_000]);
    }
  }
});
