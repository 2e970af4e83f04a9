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

function told(state: 'open' | 'half_open' | 'closed'): void {
  board.told({ breakers: state === 'closed' ? [] : [{ ...KIND, state }], venues: [] });
}

it('a breaker that waits for a probe lets one order through, and others only after its success', () => {
  told('open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toEqual(OPEN);
  told('half_open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
  board.letThrough(ORDER);
  told('half_open');
  expect(board.refusalOf({ ...ORDER, user_id: 'bob' }, emptyHoldings)).toEqual(OPEN);
  expect(board.refusalOf({ ...ORDER, side: 'sell' }, emptyHoldings)).toBeUndefined();
  told('closed');
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
});

it('a breaker whose probe has failed, or is lost, lets another one through in its time', async () => {
  told('half_open');
  board.letThrough(ORDER);
  told('open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toEqual(OPEN);
  told('half_open');
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
  board.letThrough(ORDER);
  expect(board.refusalOf(ORDER, emptyHoldings)).toEqual(OPEN);
  clock.leap(15_001);
  await board.read();
  expect(board.refusalOf(ORDER, emptyHoldings)).toBeUndefined();
});
