import { expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { WakingTime } from './connection-desk.js';

it('advances with the clock, but a standstill counts for half a second only', () => {
  const clock = new MovableClock();
  clock.stopAtEpoch(clock.epochNanos());
  const time = new WakingTime(clock);
  const passes = (millis: number): number => {
    clock.leap(millis);
    return time.now();
  };
  expect(passes(200)).toBe(200);
  expect(passes(499)).toBe(699);
  expect(passes(3_600_000)).toBe(1_199);
  for (let look = 0; look < 10; look += 1) clock.leapNanos(100_000n);
  expect(time.now()).toBe(1_200);
});
