import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { nextTurn } from './clock.js';
import { PolledAnswer } from './polled-answer.js';

const EVERY_MS = 2_000;
const WITHIN_MS = 10_000;

let clock: MovableClock;
let questions: number;
let answer: () => Promise<string>;
let faults: string[];
let polled: PolledAnswer<string>;

beforeEach(() => {
  clock = new MovableClock();
  questions = 0;
  faults = [];
  answer = () => Promise.resolve('first');
  polled = new PolledAnswer({
    clock,
    question: () => {
      questions += 1;
      return answer();
    },
    everyMillis: EVERY_MS,
    withinMillis: WITHIN_MS,
    onFault: (error) => faults.push(String(error)),
  });
});
afterEach(() => {
  polled.stop();
  clock.forgetTimers();
});

async function pass(millis: number): Promise<void> {
  clock.leap(millis);
  await nextTurn();
}

it('has no value at first, and then one that is as old as its question', async () => {
  await pass(3_000);
  expect([polled.value, polled.isCurrent(60_000)]).toEqual([undefined, false]);
  expect(polled.ageSeconds).toBeGreaterThanOrEqual(3);
  polled.start();
  await eventually(() => expect(polled.value).toBe('first'));
  expect(polled.ageSeconds).toBeLessThan(3);
  expect(polled.isCurrent(60_000)).toBe(true);
});

it('keeps its value without a reply while its age grows; only one question is open', async () => {
  polled.start();
  await eventually(() => expect(polled.value).toBe('first'));
  answer = () => new Promise(() => undefined);
  await pass(EVERY_MS);
  for (let second = 0; second < 7; second += 1) await pass(1_000);
  expect([polled.value, questions]).toEqual(['first', 2]);
  expect(polled.ageSeconds).toBeGreaterThanOrEqual(9);
  expect([polled.isCurrent(5_000), polled.isCurrent(60_000)]).toEqual([false, true]);
});

it('asks again after a question without a reply, and is current again after the reply', async () => {
  answer = () => new Promise(() => undefined);
  polled.start();
  await nextTurn();
  await pass(WITHIN_MS);
  expect(faults).toEqual([`Error: no answer within ${WITHIN_MS} ms`]);
  answer = () => Promise.resolve('second');
  await pass(EVERY_MS);
  await eventually(() => expect([polled.value, polled.isCurrent(5_000)]).toEqual(['second', true]));
});

it('keeps its value but is not current after a failed question', async () => {
  polled.start();
  await eventually(() => expect(polled.value).toBe('first'));
  answer = () => Promise.reject(new Error('away'));
  await pass(EVERY_MS);
  await eventually(() => expect(faults).toEqual(['Error: away']));
  expect([polled.value, polled.isCurrent(60_000)]).toEqual(['first', false]);
});

it('does not ask again once it is stopped', async () => {
  polled.start();
  await eventually(() => expect(polled.value).toBe('first'));
  polled.stop();
  await pass(10 * EVERY_MS);
  expect(questions).toBe(1);
});
