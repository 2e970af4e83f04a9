import { describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { RULES } from '#libs/testing/shards/token-shards.js';
import { AccountBuckets, KeyedBuckets, ruleOf } from './buckets.js';

/** A clock that stands still until the test moves it. */
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

describe.each(RULES.names)('the bucket of %s', (bucket) => {
  const { rate_per_second: rate, burst } = RULES.limits[bucket];

  it.each([1, 7])('gives its burst at once and then its rate (limits factor %d)', (factor) => {
    const clock = stillClock();
    const buckets = new AccountBuckets(clock, { ...RULES, factor });
    expect(takesOf(() => buckets.take('ann', bucket), burst * factor + 10)).toBe(burst * factor);
    clock.leap(1_000);
    expect(buckets.available('ann', bucket)).toBe(rate * factor);
    expect(takesOf(() => buckets.take('ann', bucket), burst * factor + 10)).toBe(rate * factor);
    clock.leap(3_600_000);
    expect(buckets.available('ann', bucket)).toBe(burst * factor);
  });

  it('fills at a third of the rate where three shards meter alone', () => {
    const clock = stillClock();
    const buckets = new AccountBuckets(clock, RULES, 3);
    takesOf(() => buckets.take('ann', bucket), burst);
    clock.leap(3_000);
    expect(takesOf(() => buckets.take('ann', bucket), 1_000)).toBe(rate);
  });

  it('is separate for each account', () => {
    const buckets = new AccountBuckets(stillClock(), RULES);
    takesOf(() => buckets.take('ann', bucket), burst);
    expect(buckets.take('ann', bucket)).toBe(false);
    expect(buckets.take('bob', bucket)).toBe(true);
  });
});

it('remembers empty buckets, however many other accounts come and go', () => {
  const buckets = new KeyedBuckets(stillClock(), ruleOf({ rate_per_second: 10, burst: 20 }, 1));
  expect(takesOf(() => buckets.take('ann'), 30)).toBe(20);
  for (let other = 0; other < 25_000; other += 1) buckets.take(`bob/${other}`);
  expect(buckets.available('ann')).toBe(0);
  expect(takesOf(() => buckets.take('bob/0'), 30)).toBe(19);
});
