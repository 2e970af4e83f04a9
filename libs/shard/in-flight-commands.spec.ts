import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { InFlightCommands, type RepeatRules } from './in-flight-commands.js';

type Status = 200 | 201 | 409 | 503;

const REPEATS: RepeatRules<Status> = {
  inProgress: 409,
  isFinal: (status) => status < 300,
  asRepeat: () => 200,
};

let clock: MovableClock;
let inFlight: InFlightCommands<Status>;
/** The calls that are running, in order. */
let ends: ((outcome: Status) => void)[];
let answers: (number | undefined)[];

beforeEach(() => {
  clock = new MovableClock();
  inFlight = new InFlightCommands(clock, REPEATS);
  ends = [];
  answers = [];
});
afterEach(() => {
  clock.forgetTimers();
});

function calls(): void {
  const index = answers.push(undefined) - 1;
  const work = (): Promise<Status> => new Promise((resolve) => ends.push(resolve));
  void inFlight.once('name', 'content', work).then((status) => {
    answers[index] = status;
  });
}

async function passes(millis: number): Promise<void> {
  clock.leap(millis);
  await nextTurn();
}

async function comesTo(outcome: Status): Promise<void> {
  ends.at(-1)?.(outcome);
  await nextTurn();
}

it('counts the wait of a repeat from its own arrival, however many calls before it fail', async () => {
  for (const call of [calls, calls, calls]) call();
  await passes(2_000);
  calls();
  await passes(2_000);
  await comesTo(503);
  expect([answers, ends.length]).toEqual([[503, undefined, undefined, undefined], 2]);
  await passes(1_000);
  expect(answers).toEqual([503, undefined, 409, undefined]);
  await passes(2_000);
  expect(answers).toEqual([503, undefined, 409, 409]);
  await comesTo(201);
  expect(answers).toEqual([503, 201, 409, 409]);
});

it('runs once for calls that come together, and gives all of them the outcome', async () => {
  for (const call of [calls, calls, calls]) call();
  await comesTo(201);
  expect([answers, ends.length, inFlight.size]).toEqual([[201, 200, 200], 1, 0]);
});
