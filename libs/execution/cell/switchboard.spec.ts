import { beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { emptyHoldings } from '../rules/holdings.js';
import type { Switched } from '../rules/modes.js';
import { Switchboard } from './switchboard.js';

const KIND = { venue: 'venue_b', side: 'buy', kind: 'limit', time_in_force: 'GTC' } as const;
const ORDER: Switched = { ...KIND, user_id: 'ann' };
const OPEN = { code: 'EXCHANGE_CIRCUIT_OPEN' };

let clock: MovableClock;
let board: Switchboard;

beforeEach(async () => {
  clock = new MovableClock();
  const switches = { read: () => Promise.resolve([]) };
  board = new Switchboard({ clock, switches, onChange: () => undefined, onFault: () => undefined });
  await board.read();
});

function reportBreaker(state: 'open' | 'half_open' | 'closed'): void {
  board.told({ breakers: state === 'closed' ? [] : [{ ...KIND, state }], venues: [] });
}

it('a half-open breaker lets one trial order through, and others only after its success', () => {
  reportBreaker('open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toEqual(OPEN);
  reportBreaker('half_open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
  board.letThrough(ORDER);
  reportBreaker('half_open');
  expect(board.refusalOf({ ...ORDER, user_id: 'bob' }, emptyHoldings)).toEqual(OPEN);
  expect(board.refusalOf({ ...ORDER, side: 'sell' }, emptyHoldings)).toBeUndefined();
  reportBreaker('closed');
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
});

it('after a failed or lost trial order, a breaker lets another one through when its time comes', async () => {
  reportBreaker('half_open');
  board.letThrough(ORDER);
  reportBreaker('open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toEqual(OPEN);
  reportBreaker('half_open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
  board.letThrough(ORDER);
  expect(board.refusalOf(ORDER, emptyHoldings)).toEqual(OPEN);
  clock.leap(15_001);
  await board.read();
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
});
