import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { Burst } from './burst.js';

let clock: MovableClock;
let burst: Burst;
let requests: number;

beforeEach(() => {
  clock = new MovableClock();
  burst = new Burst(clock);
  requests = 0;
});
afterEach(() => {
  clock.forgetTimers();
});

const answer = (): Promise<string> => {
  requests += 1;
  return Promise.resolve(String(requests));
};
const fail = (): Promise<string> => {
  requests += 1;
  return Promise.reject(new Error(`failed ${String(requests)}`));
};

it('concurrent callers share one request', async () => {
  expect(await Promise.all([burst.of('a', answer), burst.of('a', answer), burst.of('b', answer)])).toEqual([
    '1',
    '1',
    '2',
  ]);
});

it('an answer is cached for a quarter of a second after it arrives', async () => {
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

it('a failure reaches the waiting callers, and is not cached', async () => {
  const outcomes = await Promise.allSettled([burst.of('a', fail), burst.of('a', fail)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await burst.of('a', answer)).toBe('2');
});

it('an answer is not cached if there is no room', async () => {
  const large = (): Promise<string> => {
    requests += 1;
    return Promise.resolve('x'.repeat(40 * 1024 * 1024));
  };
  await burst.of('a', large);
  await burst.of('b', large);
  await burst.of('a', large);
  await burst.of('b', large);
  expect(requests).toBe(3);
  clock.leap(251);
  await burst.of('b', large);
  await burst.of('b', large);
  expect(requests).toBe(4);
});
