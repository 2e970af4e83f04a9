import { expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { QuoteMeter } from './auction-tokens.js';

it('meters submits and revisions by account and auction', () => {
  const clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
  const meter = new QuoteMeter(clock, 1);
  const takes = (calls: number): number =>
    Array.from({ length: calls }, () => meter.take('ann', 'a')).filter(Boolean).length;
  expect(takes(30)).toBe(20);
  expect([meter.has('ann', 'a'), meter.has('ann', 'b'), meter.has('bob', 'a')]).toEqual([false, true, true]);
  clock.leap(100);
  expect(meter.has('ann', 'a')).toBe(true);
  expect(takes(5)).toBe(1);
});
