import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { Burst } from './burst.js';

let clock: MovableClock;
let burst: Burst;
let asked: number;

beforeEach(() => {
  clock = new MovableClock();
  burst = new Burst(clock);
  asked = 0;
});
afterEach(() => {
  clock.forgetTimers();
});

const answer = (): Promise<string> => {
  asked += 1;
  return Promise.resolve(String(asked));
};
const fail = (): Promise<string> => {
  asked += 1;
  return Promise.reject(new Error(`failed ${String(asked)}`));
};

it('those who ask at the same time are answered by one question', async () => {
  expect(await Promise.all([burst.of('a', answer), burst.of('a', answer), burst.of('b', answer)])).toEqual([
    '1',
    '1',
    '2',
  ]);
});

it('an answer is kept for a quarter of a second after it came', async () => {
  let tell: (text: string) => void = () => undefined;
  const slow = burst.of('a', () => new Promise((resolve) => (tell = resolve)));
  clock.leap(10_000);
  tell('slow');
  await slow;
  clock.leap(240);
  expect(await burst.of('a', answer)).toBe('slow');
  clock.leap(11);
  expect(await burst.of('a', answer)).toBe('1');
});

it('a failure is told to those who wait for it, and not kept', async () => {
  const outcomes = await Promise.allSettled([burst.of('a', fail), burst.of('a', fail)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await burst.of('a', answer)).toBe('2');
});

it('more than there is room for is not kept', async () => {
  const large = (): Promise<string> => {
    asked += 1;
    return Promise.resolve('x'.repeat(40 * 1024 * 1024));
  };
  await burst.of('a', large);
  await burst.of('b', large);
  await burst.of('a', large);
  await burst.of('b', large);
  expect(asked).toBe(3);
  clock.leap(251);
  await burst.of('b', large);
  await burst.of('b', large);
  expect(asked).toBe(4);
});
