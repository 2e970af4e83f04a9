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

function collateralOf(book: HoldBook, account: string): number {
  return book.amountOf(accountKey(account, COLLATERAL));
}

const ring = new AccountKeyCache();
const KEY = accountKey('m1', COLLATERAL);
const TOKEN_KEY = accountKey('m1', TOKENS);

describe('hold book', () => {
  it('adds up by account and resource and forgets what is back at zero', () => {
    const book = new HoldBook(ring);
    book.add('m1', [hold(5), { ...TOKENS, amount: 2 }]);
    book.add('m1', [hold(3)]);
    book.add('m2', [hold(9)]);
    expect(collateralOf(book, 'm1')).toBe(8);
    expect(book.size).toBe(3);
    expect(book.remove('m1', [hold(8)])).toEqual([KEY]);
    expect(book.size).toBe(2);
  });

  it('refuses to set free what was never held', () => {
    const book = new HoldBook(ring);
    book.add('m1', [hold(5)]);
    expect(() => book.remove('m1', [hold(6)])).toThrow(RangeError);
    expect(() => book.remove('m2', [hold(1)])).toThrow(RangeError);
  });

  it('raises to the larger of the current and the next hold, resource by resource', () => {
    const book = new HoldBook(ring);
    book.add('m1', [hold(10)]);
    const draft = new HoldDraft(book.amountsOf([KEY]), ring);
    draft.raise('m1', [hold(10)], [hold(4), { ...TOKENS, amount: 7 }]);
    expect(draft.total(KEY)).toBe(10);
    expect(draft.total(TOKEN_KEY)).toBe(7);
    draft.raise('m1', [hold(10)], [hold(13)]);
    expect(draft.total(KEY)).toBe(13);
    draft.raise('m1', [{ ...hold(10), venue: 'venue_b' }], [hold(1)]);
    expect(draft.total(KEY)).toBe(14);
    expect(collateralOf(book, 'm1')).toBe(10);
  });

  it('keeps a release that came while a draft was on its way', () => {
    const book = new HoldBook(ring);
    book.add('m1', [hold(10)]);
    const draft = new HoldDraft(book.amountsOf([KEY]), ring);
    draft.raise('m1', [], [hold(3)]);
    book.remove('m1', [hold(10)]);
    book.accept(draft);
    expect(collateralOf(book, 'm1')).toBe(3);
  });
});
