import { beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { termsOf } from '#libs/testing/execution/cell-journal.js';
import { BreakerBoard } from './breaker-board.js';

const terms = termsOf({ order_id: 'order', user_id: 'ann' });
type Ended = 'good' | 'failed' | 'unsent';

let clock: MovableClock;
let board: BreakerBoard;
/** Resolvers of the calls that were made. */
let made: ((ended: Ended) => void)[];

beforeEach(() => {
  clock = new MovableClock();
  board = new BreakerBoard(clock, () => undefined);
  made = [];
});

function breakerWaits(): void {
  for (let failed = 0; failed < 20; failed += 1) board.count(terms, true);
  clock.leap(30_001);
  expect(board.shown()).toMatchObject([{ state: 'half_open' }]);
}

function call(): Promise<Ended | undefined> {
  return board.one(terms, async () => {
    const ended = await new Promise<Ended>((resolve) => made.push(resolve));
    if (ended !== 'unsent') board.count(terms, ended === 'failed');
    return ended;
  });
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
}

async function end(ended: Ended): Promise<void> {
  for (const one of made.splice(0)) one(ended);
  await settled();
}

it('with a half-open breaker one call goes first, and its success releases the others', async () => {
  breakerWaits();
  const all = [call(), call(), call()];
  expect(made).toHaveLength(1);
  await settled();
  expect(made).toHaveLength(1);
  await end('good');
  expect(made).toHaveLength(2);
  await end('good');
  expect(await Promise.all(all)).toEqual(['good', 'good', 'good']);
  expect(board.shown()).toEqual([]);
});

it('if the probe fails, the other calls are not made', async () => {
  breakerWaits();
  const all = [call(), call()];
  await end('failed');
  expect(made).toEqual([]);
  expect(await Promise.all(all)).toEqual(['failed', undefined]);
  expect(board.shown()).toMatchObject([{ state: 'open' }]);
});

it('if the probe was not sent, the next call becomes the probe', async () => {
  breakerWaits();
  const all = [call(), call(), call()];
  await end('unsent');
  expect(made).toHaveLength(1);
  await end('good');
  expect(made).toHaveLength(1);
  await end('good');
  expect(await Promise.all(all)).toEqual(['unsent', 'good', 'good']);
});

it('calls accepted before a breaker opened are made while it is open', async () => {
  for (let failed = 0; failed < 20; failed += 1) board.count(terms, true);
  const all = [call(), call()];
  expect(made).toHaveLength(2);
  await end('good');
  expect(await Promise.all(all)).toEqual(['good', 'good']);
});
