import { describe, expect, it } from '@jest/globals';
import { contentHash } from './caller-identity.js';

const CREATE = {
  side: 'BUY',
  routes: [{ venue: 'v', contract_id: 'c', outcome: 'YES' }],
  audience: { market_maker_ids: ['b', 'a'] },
};
/** Names whose order differs from that of their bytes, and texts that JSON escapes. */
const ODD = { ...CREATE, b: '"ü\u2028\\', a: true, B: 0.5, '': {}, '10': 1, '9': 2, '😀': 1, '\uffff': 2 };

describe('the hash of a content', () => {
  it.each([
    ['a quote', { price_atoms: 330_000, quantity_atoms: 1_000_000 }, 'MLju6azO5zew6aewQvGCiB'],
    [
      'a revision',
      ['0b000000-0000-8000-8000-000000000001', { expected_revision: 3, price_atoms: 1 }],
      '1S-AmouiNQOommGqyfjGxh',
    ],
    ['unusual names and texts', ODD, 'ijDMtjSE38FbECKcMshxrM'],
  ])('must never change, because journals hold it: %s', (_, content, expected) => {
    expect(contentHash(content)).toBe(expected);
  });

  it('does not depend on the order of fields, but on the order of lists', () => {
    const backwards = Object.fromEntries(Object.entries(ODD).reverse());
    expect(contentHash(backwards)).toBe(contentHash(ODD));
    expect(contentHash({ ...CREATE, audience: { market_maker_ids: ['a', 'b'] } })).not.toBe(
      contentHash(CREATE),
    );
  });
});
