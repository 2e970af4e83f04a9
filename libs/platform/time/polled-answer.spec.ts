import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { nextTurn } from './clock.js';
import { PolledAnswer } from './polled-answer.js';

const EVERY_MS = 2_000;
const WITHIN_MS = 10_000;

let clock: MovableClock;
let asked: number;
let answer: () => Promise<string>;
let faults: string[];
let kept: PolledAnswer<string>;

beforeEach(() => {
  clock = new MovableClock();
  asked = 0;
  faults = [];
  answer = () => Promise.resolve('first');
  kept = new PolledAnswer({
    clock,
    question: () => {
      asked += 1;
      return answer();
    },
    everyMillis: EVERY_MS,
    withinMillis: WITHIN_MS,
    onFault: (error) => faults.push(String(error)),
  });
});
afterEach(() => {
  kept.stop();
  clock.forgetTimers();
});

async function pass(millis: number): Promise<void> {
  clock.leap(millis);
  await nextTurn();
}

it('is absent at first, and then as old as its question', async () => {
  await pass(3_000);
  expect([kept.value, kept.isCurrent(60_000)]).toEqual([undefined, false]);
  expect(kept.ageSeconds).toBeGreaterThanOrEqual(3);
  kept.start();
  await eventually(() => expect(kept.value).toBe('first'));
  expect(kept.ageSeconds).toBeLessThan(3);
  expect(kept.isCurrent(60_000)).toBe(true);
});

it('is kept without a reply, and grows older; one question waits at a time', async () => {
  kept.start();
  await eventually(() => expect(kept.value).toBe('first'));
  answer = () => new Promise(() => undefined);
  await pass(EVERY_MS);
  for (let second = 0; second < 7; second += 1) await pass(1_000);
  expect([kept.value, asked]).toEqual(['first', 2]);
  expect(kept.ageSeconds).toBeGreaterThanOrEqual(9);
  expect([kept.isCurrent(5_000), kept.isCurrent(60_000)]).toEqual([false, true]);
});

it('is requested again if a question has waited too long, and is current again after its reply', async () => {
  answer = () => new Promise(() => undefined);
  kept.start();
  await nextTurn();
  await pass(WITHIN_MS);
  expect(faults).toEqual([`Error: no answer within ${WITHIN_MS} ms`]);
  answer = () => Promise.resolve('second');
  await pass(EVERY_MS);
  await eventually(() => expect([kept.value, kept.isCurrent(5_000)]).toEqual(['second', true]));
});

it('is kept but not current after a failed question', async () => {
  kept.start();
  await eventually(() => expect(kept.value).toBe('first'));
  answer = () => Promise.reject(new Error('away'));
  await pass(EVERY_MS);
  await eventually(() => expect(faults).toEqual(['Error: away']));
  expect([kept.value, kept.isCurrent(60_000)]).toEqual(['first', false]);
});

it('is not requested again once it is stopped', async () => {
  kept.start();
  await eventually(() => expect(kept.value).toBe('first'));
  kept.stop();
  await pass(10 * EVERY_MS);
  expect(asked).toBe(1);
});
