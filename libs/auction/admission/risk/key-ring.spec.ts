import { expect, it } from '@jest/globals';
import { AccountKeyCache } from './key-ring.js';
import { accountKey, type ResourceKey } from './resource-key.js';

const COLLATERAL: ResourceKey = { venue: 'venue_a', resource: 'COLLATERAL', asset: '' };

it('returns the same key again, and never the key of another resource', () => {
  const ring = new AccountKeyCache();
  const likeIt: ResourceKey = { venue: 'venue_a', resource: 'OUTCOME_TOKEN', asset: 'COLLATERAL' };
  const others: readonly (readonly [string, ResourceKey])[] = [
    ['m1', { ...COLLATERAL, resource: 'VENUE_POSITION_LIMIT' }],
    ['m1', { ...COLLATERAL, venue: 'venue_b' }],
    ['m2', COLLATERAL],
    ['m1', likeIt],
  ];
  const key = ring.of('m1', COLLATERAL);
  expect(key).toEqual(accountKey('m1', COLLATERAL));
  expect(ring.of('m1', { ...COLLATERAL })).toBe(key);
  for (const [account, resource] of others) {
    expect(ring.of(account, resource)).toEqual(accountKey(account, resource));
  }
  expect(ring.of('m1', COLLATERAL)).toEqual(key);
});

it('makes a key again after the cache was cleared', () => {
  const ring = new AccountKeyCache();
  const key = ring.of('m', COLLATERAL);
  for (let number = 0; number < 100_000; number += 1) ring.of(`m${number}`, COLLATERAL);
  expect(ring.of('m', COLLATERAL)).not.toBe(key);
  expect(ring.of('m', COLLATERAL)).toEqual(key);
});
