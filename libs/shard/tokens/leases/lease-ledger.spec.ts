import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LeaseWish } from '#libs/auction/protocol/protocol.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { AccountBuckets } from '../buckets.js';
import { LeaseLedger } from './lease-ledger.js';

const NEAR = { shard: 1, life: 5 };
const FAR = { shard: 2, life: 9 };

let clock: MovableClock;
let buckets: AccountBuckets;
let ledger: LeaseLedger;

beforeEach(() => {
  clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
  begin(1);
});

function begin(limitsFactor: number, mostLeases?: number): void {
  buckets = new AccountBuckets(clock, limitsFactor);
  ledger = new LeaseLedger({
    clock,
    buckets,
    limitsFactor,
    ...(mostLeases === undefined ? {} : { mostLeases }),
  });
}

function wish(lease: number, account = 'ann'): LeaseWish {
  return { account, bucket: 'quote', lease };
}

function left(): number {
  return buckets.availableOf('ann', 'quote');
}

describe('a lease', () => {
  it('is an eighth of what is there, at most sixteen, and nothing when little is there', () => {
    expect(ledger.grant(NEAR, wish(1))).toBe(12);
    expect(left()).toBe(88);
    expect(ledger.grant(FAR, wish(1))).toBe(11);
    expect(ledger.grant(NEAR, { account: 'ann', bucket: 'withdraw', lease: 2 })).toBe(16);
    for (let taken = 0; taken < 62; taken += 1) buckets.take('ann', 'quote');
    expect(ledger.grant(NEAR, wish(3))).toBe(0);
    expect(left()).toBe(15);
  });

  it('is larger where everything is', () => {
    begin(100);
    expect(ledger.grant(NEAR, wish(1))).toBe(1_250);
    expect(ledger.grant(NEAR, { account: 'ann', bucket: 'withdraw', lease: 2 })).toBe(1_600);
  });

  it('is given once, however often it is asked for', () => {
    expect([ledger.grant(NEAR, wish(1)), ledger.grant(NEAR, wish(1))]).toEqual([12, 12]);
    expect(left()).toBe(88);
  });

  it('is one of few that a holder has of a bucket, and of so many in all', () => {
    const sizes = [1, 2, 3, 4, 5].map((number) => ledger.grant(NEAR, wish(number)));
    expect(sizes.map((size) => size > 0)).toEqual([true, true, true, true, false]);
    begin(1, 2);
    expect([1, 2, 3].map((number) => ledger.grant(NEAR, wish(number, `ann-${number}`)))).toEqual([12, 12, 0]);
  });
});

describe('a bucket of which something is out', () => {
  beforeEach(() => {
    ledger.grant(NEAR, wish(1));
  });

  it('fills up to its burst without that', () => {
    clock.leap(60_000);
    expect(left()).toBe(88);
    ledger.report(NEAR, [[1, 5, false]]);
    expect(left()).toBe(88);
    clock.leap(60_000);
    expect(left()).toBe(93);
  });

  it('counts from the beginning of the lease what was used of it, so nothing twice and nothing late', () => {
    ledger.report(NEAR, [[1, 5, false]]);
    ledger.report(NEAR, [[1, 5, false]]);
    ledger.report(NEAR, [[1, 3, false]]);
    clock.leap(60_000);
    expect(left()).toBe(93);
    ledger.report(NEAR, [[1, 7, true]]);
    ledger.report(NEAR, [[1, 7, true]]);
    expect([left(), ledger.size]).toEqual([98, 0]);
  });

  it('gets back what was not used', () => {
    ledger.report(NEAR, [[1, 2, true]]);
    expect(left()).toBe(98);
    expect(ledger.isOut('ann', 'quote')).toBe(false);
  });

  it('heeds nobody but the holder, in the life that it was leased to', () => {
    ledger.report(FAR, [[1, 0, true]]);
    ledger.report({ ...NEAR, life: 6 }, [[1, 0, true]]);
    expect([left(), ledger.size]).toEqual([88, 1]);
  });

  it('gets nothing back when its time is over without a word, and fills up again', () => {
    clock.leap(10_999);
    ledger.tidy();
    expect(left()).toBe(88);
    clock.leap(1);
    ledger.tidy();
    expect([left(), ledger.size]).toEqual([88, 0]);
    clock.leap(60_000);
    expect(left()).toBe(100);
  });
});

describe('what is called in', () => {
  beforeEach(() => {
    ledger.grant(NEAR, wish(1));
    ledger.grant(NEAR, wish(2));
    ledger.grant(FAR, wish(1));
  });

  it('is all that is out of the bucket, once', () => {
    expect(ledger.isOut('ann', 'quote')).toBe(true);
    expect(ledger.callIn('ann', 'quote')).toEqual([
      { holder: NEAR, numbers: [1, 2] },
      { holder: FAR, numbers: [1] },
    ]);
    expect(ledger.isOut('ann', 'quote')).toBe(false);
    expect(ledger.callIn('ann', 'quote')).toEqual([]);
  });

  it('comes back but for what was used; what nobody knows any more was used', () => {
    const [near, far] = ledger.callIn('ann', 'quote');
    ledger.calledIn(near!, [3, null]);
    // Of 12, 11 and 9 that were out.
    expect(left()).toBe(68 + 9);
    ledger.calledIn(far!, [0]);
    expect([left(), ledger.size]).toEqual([68 + 9 + 9, 0]);
    clock.leap(60_000);
    expect(left()).toBe(100);
  });

  it('comes back once, whether the holder tells of it by itself before or behind its answer', () => {
    const [near] = ledger.callIn('ann', 'quote');
    ledger.report(NEAR, [[1, 3, true]]);
    ledger.calledIn(near!, [3, 0]);
    ledger.report(NEAR, [[2, 0, true]]);
    expect(left()).toBe(68 + 9 + 11);
  });
});
