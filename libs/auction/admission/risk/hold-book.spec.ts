import { describe, expect, it } from '@jest/globals';
import type { Hold } from '../../rules/terms.js';
import { HoldBook, HoldDraft } from './hold-book.js';
import { AccountKeyCache } from './key-ring.js';
import { accountKey } from './resource-key.js';

const COLLATERAL = { venue: 'venue_a', resource: 'COLLATERAL', asset: '' } as const;
const TOKENS = { venue: 'venue_a', resource: 'OUTCOME_TOKEN', asset: 'rain/YES' } as const;

function hold(amount: number): Hold {
  return { ...COLLATERAL, amount };
}

function collateralOf(holds: HoldBook, account: string): number {
  return holds.amountOf(accountKey(account, COLLATERAL));
}

const ring = new AccountKeyCache();
const KEY = accountKey('m1', COLLATERAL);
const TOKEN_KEY = accountKey('m1', TOKENS);

describe('the holds of a shard', () => {
  it('add up by account and resource, without entries at zero', () => {
    const holds = new HoldBook(ring);
    holds.add('m1', [hold(5), { ...TOKENS, amount: 2 }]);
    holds.add('m1', [hold(3)]);
    holds.add('m2', [hold(9)]);
    expect(collateralOf(holds, 'm1')).toBe(8);
    expect(holds.size).toBe(3);
    expect(holds.remove('m1', [hold(8)])).toEqual([KEY]);
    expect(holds.size).toBe(2);
  });

  it('refuse to release what was never held', () => {
    const holds = new HoldBook(ring);
    holds.add('m1', [hold(5)]);
    expect(() => holds.remove('m1', [hold(6)])).toThrow(RangeError);
    expect(() => holds.remove('m2', [hold(1)])).toThrow(RangeError);
  });

  it('rise to the larger of the current and the next hold, resource by resource', () => {
    const holds = new HoldBook(ring);
    holds.add('m1', [hold(10)]);
    const draft = new HoldDraft(holds.amountsOf([KEY]), ring);
    draft.raise('m1', [hold(10)], [hold(4), { ...TOKENS, amount: 7 }]);
    expect(draft.total(KEY)).toBe(10);
    expect(draft.total(TOKEN_KEY)).toBe(7);
    draft.raise('m1', [hold(10)], [hold(13)]);
    expect(draft.total(KEY)).toBe(13);
    draft.raise('m1', [{ ...hold(10), venue: 'venue_b' }], [hold(1)]);
    expect(draft.total(KEY)).toBe(14);
    expect(collateralOf(holds, 'm1')).toBe(10);
  });

  it('keep a release that came while a draft was pending', () => {
    const holds = new HoldBook(ring);
    holds.add('m1', [hold(10)]);
    const draft = new HoldDraft(holds.amountsOf([KEY]), ring);
    draft.raise('m1', [], [hold(3)]);
    holds.remove('m1', [hold(10)]);
    holds.accept(draft);
    expect(collateralOf(holds, 'm1')).toBe(3);
  });
});
