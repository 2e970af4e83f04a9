import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { CommandsInWork } from './commands-in-work.js';

const UNAVAILABLE = fault(503, 'auction_owner_unavailable');
const DONE = reply(201, {});

let clock: MovableClock;
let inWork: CommandsInWork;
/** Of the calls that are worked on, in their order. */
let ends: ((outcome: LinkReply) => void)[];
let answers: (number | undefined)[];

beforeEach(() => {
  clock = new MovableClock();
  inWork = new CommandsInWork(clock);
  ends = [];
  answers = [];
});
afterEach(() => {
  clock.forgetTimers();
});

function calls(): void {
  const place = answers.push(undefined) - 1;
  const work = (): Promise<LinkReply> => new Promise((resolve) => ends.push(resolve));
  void inWork.once('name', 'content', work).then(({ status }) => {
    answers[place] = status;
  });
}

async function passes(millis: number): Promise<void> {
  clock.leap(millis);
  await nextTurn();
}

async function comesTo(outcome: LinkReply): Promise<void> {
  ends.at(-1)?.(outcome);
  await nextTurn();
}

it('counts the patience of a repeat from its own arrival, however many calls before it come to nothing', async () => {
  for (const call of [calls, calls, calls]) call();
  await passes(2_000);
  calls();
  await passes(2_000);
  await comesTo(UNAVAILABLE);
  expect([answers, ends.length]).toEqual([[503, undefined, undefined, undefined], 2]);
  await passes(1_000);
  expect(answers).toEqual([503, undefined, 409, undefined]);
  await passes(2_000);
  expect(answers).toEqual([503, undefined, 409, 409]);
  await comesTo(DONE);
  expect(answers).toEqual([503, 201, 409, 409]);
});

it('works once for calls that come together, and tells all of them what came of it', async () => {
  for (const call of [calls, calls, calls]) call();
  await comesTo(DONE);
  expect([answers, ends.length, inWork.size]).toEqual([[201, 200, 200], 1, 0]);
});
