import { describe, expect, it } from '@jest/globals';
import { collidingKeys } from '#libs/testing/shards/shard-orders.js';
import { IdempotencyIndex, type IdempotencyKey } from './idempotency-index.js';

const MIA: IdempotencyKey = { operation: 'SUBMIT', account_id: 'mia', key: 'k1' };
const [FIRST, SECOND] = collidingKeys(MIA);
const ONE: IdempotencyKey = { ...MIA, key: FIRST };
const TWO: IdempotencyKey = { ...MIA, key: SECOND };

describe('an idempotency index', () => {
  it('finds the position of a command, and of no other', () => {
    const index = new IdempotencyIndex();
    index.note(MIA, 7);
    expect(index.find(MIA)).toEqual([7]);
    expect(index.find({ ...MIA, key: 'k2' })).toEqual([]);
    expect(index.find({ ...MIA, operation: 'REVISE' })).toEqual([]);
    expect(index.find({ ...MIA, account_id: 'miak', key: '1' })).toEqual([]);
  });

  it('loses neither of two commands with the same hash', () => {
    const index = new IdempotencyIndex();
    index.note(ONE, 3);
    index.note(TWO, 9);
    expect(ONE).not.toEqual(TWO);
    expect(index.find(ONE)).toEqual([3, 9]);
    expect(index.find(TWO)).toEqual([3, 9]);
  });

  it('is restored from a snapshot as it was at that position', () => {
    const index = new IdempotencyIndex();
    for (const [name, at] of [
      [ONE, 3],
      [TWO, 9],
      [MIA, 12],
    ] as const)
      index.note(name, at);
    expect(new IdempotencyIndex(index.upTo(12)).find(ONE)).toEqual([3, 9]);
    const earlier = new IdempotencyIndex(index.upTo(8));
    expect([earlier.find(TWO), earlier.find(MIA)]).toEqual([[3], []]);
  });
});
