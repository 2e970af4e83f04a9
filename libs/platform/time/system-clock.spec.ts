import { expect, it } from '@jest/globals';
import { SystemClock, timerDelay } from './system-clock.js';

const clock = new SystemClock();

it.each([
  [200, 200],
  [250, 250],
  [1_000, 1_000],
  [5_000, 1_000],
])('work that repeats every %i ms runs at multiples of %i', (millis, beat) => {
  const before = performance.now();
  const wait = clock.untilNext(millis);
  const after = performance.now();
  expect(wait).toBeGreaterThanOrEqual(millis - beat / 2 - 1);
  expect(wait).toBeLessThanOrEqual(millis + beat / 2 + 1);
  const multiple = Math.round((before + wait) / beat) * beat;
  expect(before + wait).toBeLessThanOrEqual(multiple + 0.001);
  expect(after + wait).toBeGreaterThanOrEqual(multiple - 0.001);
});

it('records the delay of its timers', async () => {
  timerDelay.reset();
  await new Promise<void>((resolve) => {
    clock.after(5, resolve);
    const busyUntil = performance.now() + 60;
    while (performance.now() < busyUntil);
  });
  expect(timerDelay.max).toBeGreaterThan(50_000_000);
});

it('records no delay for a timer that was overdue when it was set', async () => {
  timerDelay.reset();
  await new Promise<void>((resolve) => {
    clock.after(-3_600_000, resolve);
  });
  expect(timerDelay.count).toBe(1);
  expect(timerDelay.max).toBeLessThan(60_000_000_000);
});
