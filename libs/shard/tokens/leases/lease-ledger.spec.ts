import { beforeEach, describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { RULES, type Metered } from '#libs/testing/shards/token-shards.js';
import { AccountBuckets } from '../buckets.js';
import type { LeaseWish } from '../token-messages.js';
import { LeaseLedger } from './lease-ledger.js';

const NEAR = { shard: 1, epoch: 5 };
const FAR = { shard: 2, epoch: 9 };

let clock: MovableClock;
let buckets: AccountBuckets<Metered>;
let ledger: LeaseLedger<Metered>;

beforeEach(() => {
  clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
  begin(1);
});

function begin(factor: number, mostLeases?: number): void {
  buckets = new AccountBuckets(clock, { ...RULES, factor });
  ledger = new LeaseLedger({
    clock,
    buckets,
    ...(mostLeases === undefined ? {} : { mostLeases }),
  });
}

function wish(lease: number, account = 'ann'): LeaseWish<Metered> {
  return { account, bucket: 'quote', lease };
}

function left(): number {
  return buckets.available('ann', 'quote');
}

describe('a lease', () => {
  it('is an eighth of the tokens left, at most sixteen, and nothing when few are left', () => {
    expect(ledger.grant(NEAR, wish(1))).toBe(12);
    expect(left()).toBe(88);
    expect(ledger.grant(FAR, wish(1))).toBe(11);
    expect(ledger.grant(NEAR, { account: 'ann', bucket: 'withdraw', lease: 2 })).toBe(16);
    for (let taken = 0; taken < 62; taken += 1) buckets.take('ann', 'quote');
    expect(ledger.grant(NEAR, wish(3))).toBe(0);
    expect(left()).toBe(15);
  });

  it('grows with the limits factor', () => {
    begin(100);
    expect(ledger.grant(NEAR, wish(1))).toBe(1_250);
    expect(ledger.grant(NEAR, { account: 'ann', bucket: 'withdraw', lease: 2 })).toBe(1_600);
  });

  it('is granted once, however often it is requested', () => {
    expect([ledger.grant(NEAR, wish(1)), ledger.grant(NEAR, wish(1))]).toEqual([12, 12]);
    expect(left()).toBe(88);
  });

  it('is limited in number by holder and bucket, and in total', () => {
    const sizes = [1, 2, 3, 4, 5].map((number) => ledger.grant(NEAR, wish(number)));
    expect(sizes.map((size) => size > 0)).toEqual([true, true, true, true, false]);
    begin(1, 2);
    expect([1, 2, 3].map((number) => ledger.grant(NEAR, wish(number, `ann-${number}`)))).toEqual([12, 12, 0]);
  });
});

describe('a bucket with leased tokens', () => {
  beforeEach(() => {
    ledger.grant(NEAR, wish(1));
  });

  it('fills up to its burst less the leased tokens', () => {
    clock.leap(60_000);
    expect(left()).toBe(88);
    ledger.report(NEAR, [[1, 5, false]]);
    expect(left()).toBe(88);
    clock.leap(60_000);
    expect(left()).toBe(93);
  });

  it('counts use from the beginning of the lease, so repeated and late reports change nothing', () => {
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
    expect(ledger.isLeased('ann', 'quote')).toBe(false);
  });

  it('accepts reports only from the holder, in the epoch of the grant', () => {
    ledger.report(FAR, [[1, 0, true]]);
    ledger.report({ ...NEAR, epoch: 6 }, [[1, 0, true]]);
    expect([left(), ledger.size]).toEqual([88, 1]);
  });

  it('gets nothing back when the lease expires unreported, and fills up again', () => {
    clock.leap(10_999);
    ledger.expire();
    expect(left()).toBe(88);
    clock.leap(1);
    ledger.expire();
    expect([left(), ledger.size]).toEqual([88, 0]);
    clock.leap(60_000);
    expect(left()).toBe(100);
  });
});

describe('a recall', () => {
  beforeEach(() => {
    ledger.grant(NEAR, wish(1));
    ledger.grant(NEAR, wish(2));
    ledger.grant(FAR, wish(1));
  });

  it('names every lease of the bucket, once', () => {
    expect(ledger.isLeased('ann', 'quote')).toBe(true);
    expect(ledger.recall('ann', 'quote')).toEqual([
      { holder: NEAR, numbers: [1, 2] },
      { holder: FAR, numbers: [1] },
    ]);
    expect(ledger.isLeased('ann', 'quote')).toBe(false);
    expect(ledger.recall('ann', 'quote')).toEqual([]);
  });

  it('brings back what was not used; a lease that its holder does not know counts as used', () => {
    const [near, far] = ledger.recall('ann', 'quote');
    ledger.recalled(near!, [3, null]);
    // The leases had 12, 11 and 9 tokens.
    expect(left()).toBe(68 + 9);
    ledger.recalled(far!, [0]);
    expect([left(), ledger.size]).toEqual([68 + 9 + 9, 0]);
    clock.leap(60_000);
    expect(left()).toBe(100);
  });

  it('brings tokens back once, whether the holder reports by itself before or after its answer', () => {
    const [near] = ledger.recall('ann', 'quote');
    ledger.report(NEAR, [[1, 3, true]]);
    ledger.recalled(near!, [3, 0]);
    ledger.report(NEAR, [[2, 0, true]]);
    expect(left()).toBe(68 + 9 + 11);
  });
});
