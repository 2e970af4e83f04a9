import { beforeEach, expect, it } from '@jest/globals';
import { Attempts, type Ended } from './attempts.js';

const HOLDS = 4;
let now: number;
let attempts: Attempts;

/** A create, of which there may be four at once and two a second. */
function begin(key: string): Ended {
  return attempts.begin({ operation: 'CREATE', account: 'olga', auctionId: '', key });
}

function done(key: string, status: number): void {
  begin(key)(status);
}

beforeEach(() => {
  now = 1_000;
  attempts = new Attempts(() => now, 1);
});

it('lets nobody be refused who has taken less than there is', () => {
  for (let count = 1; count < HOLDS; count += 1) done(`k${count}`, 201);
  expect(() => done('k4', 429)).toThrow('nobody is refused a token that is there');
});

it('lets those be refused who have taken all, until there is another one', () => {
  for (let count = 1; count <= HOLDS; count += 1) done(`k${count}`, 201);
  now += 499;
  done('k5', 429);
  now += 2;
  expect(() => done('k6', 429)).toThrow('create/olga');
});

it('counts what was refused as nothing, and all else that may have been decided by then as a token', () => {
  for (let count = 1; count < HOLDS; count += 1) done(`k${count}`, 422);
  const waiting = begin('k4');
  done('k5', 429);
  // That one may have been refused for the token of this one, and this one for nobody's.
  expect(() => waiting(429)).toThrow('nobody is refused');
});

it('takes no time for gained in which the answer may have been decided already', () => {
  for (let count = 1; count <= HOLDS; count += 1) done(`k${count}`, 201);
  const slow = begin('k5');
  now += 700;
  // It says the same at the same time, and is told what came of the first.
  const again = begin('k5');
  slow(429);
  again(429);
  expect(() => done('k6', 429)).toThrow('nobody is refused');
});

it('lets a quote be refused by either of its buckets', () => {
  const quote = (auctionId: string, index: number): Ended =>
    attempts.begin({ operation: 'SUBMIT', account: 'mia', auctionId, key: `${auctionId}-${index}` });
  for (let index = 0; index < 20; index += 1) quote('one', index)(409);
  quote('one', 20)(429);
  expect(() => quote('two', 0)(429)).toThrow('quote/mia and quote/mia/two');
});
