import { describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { ACCOUNT_LIMITS, AccountBuckets, QuoteMeter } from './buckets.js';

/** A clock that shows the same moment until it is moved. */
function stillClock(): MovableClock {
  const clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
  return clock;
}

function takesOf(take: () => boolean, calls: number): number {
  let taken = 0;
  for (let call = 0; call < calls; call += 1) taken += Number(take());
  return taken;
}

describe.each(['create', 'cancel', 'quote', 'withdraw'] as const)('the bucket of %s', (bucket) => {
  const { rate_per_second: rate, burst } = ACCOUNT_LIMITS[bucket];

  it.each([1, 7])('gives its burst at once and then its rate (limits factor %d)', (factor) => {
    const clock = stillClock();
    const buckets = new AccountBuckets(clock, factor);
    expect(takesOf(() => buckets.take('ann', bucket), burst * factor + 10)).toBe(burst * factor);
    clock.leap(1_000);
    expect(buckets.available('ann')[bucket]).toBe(rate * factor);
    expect(takesOf(() => buckets.take('ann', bucket), burst * factor + 10)).toBe(rate * factor);
    clock.leap(3_600_000);
    expect(buckets.available('ann')[bucket]).toBe(burst * factor);
  });

  it('fills at a third of the rate for an owner that meters alone', () => {
    const clock = stillClock();
    const buckets = new AccountBuckets(clock, 1, true);
    takesOf(() => buckets.take('ann', bucket), burst);
    clock.leap(3_000);
    expect(takesOf(() => buckets.take('ann', bucket), 1_000)).toBe(rate);
  });

  it('is one for each account', () => {
    const buckets = new AccountBuckets(stillClock(), 1);
    takesOf(() => buckets.take('ann', bucket), burst);
    expect(buckets.take('ann', bucket)).toBe(false);
    expect(buckets.take('bob', bucket)).toBe(true);
  });
});

it('asks for submits and revisions by account and auction', () => {
  const clock = stillClock();
  const meter = new QuoteMeter(clock, 1);
  expect(takesOf(() => meter.take('ann', 'a'), 30)).toBe(20);
  expect([meter.has('ann', 'a'), meter.has('ann', 'b'), meter.has('bob', 'a')]).toEqual([false, true, true]);
  clock.leap(100);
  expect(meter.has('ann', 'a')).toBe(true);
  expect(takesOf(() => meter.take('ann', 'a'), 5)).toBe(1);
});

it('remembers who has nothing left, however many others come and go', () => {
  const clock = stillClock();
  const meter = new QuoteMeter(clock, 1);
  expect(takesOf(() => meter.take('ann', 'a'), 30)).toBe(20);
  for (let auction = 0; auction < 25_000; auction += 1) meter.take('bob', String(auction));
  expect(meter.has('ann', 'a')).toBe(false);
  expect(takesOf(() => meter.take('bob', '0'), 30)).toBe(19);
});
