import { beforeEach, expect, it } from '@jest/globals';
import type { Clock } from '#libs/platform/time/clock.js';
import { accountKey, type AccountKey } from './resource-key.js';
import { UnwrittenKeys } from './unwritten-keys.js';

let seconds: number;
let unwritten: UnwrittenKeys;

beforeEach(() => {
  seconds = 0;
  const clock: Clock = {
    epochNanos: () => 0n,
    monotonicNanos: () => BigInt(seconds) * 1_000_000_000n,
    after: () => () => undefined,
  };
  unwritten = new UnwrittenKeys(clock);
});

function key(account: string): AccountKey {
  return accountKey(account, { venue: 'venue_a', resource: 'COLLATERAL', asset: '' });
}

function standing(): readonly [number, number] {
  return [unwritten.size, unwritten.oldestSeconds];
}

it('keys are counted while an attempt is writing them, however long it hangs', () => {
  void unwritten.add([key('mia'), key('max')]);
  seconds = 2;
  const taken = unwritten.take();
  expect(standing()).toEqual([2, 2]);
  seconds = 300;
  expect(standing()).toEqual([2, 300]);
  taken.written();
  expect(standing()).toEqual([0, 0]);
});

it('keys that are added during an attempt are counted once, and wait from then on if it succeeds', () => {
  void unwritten.add([key('mia')]);
  const taken = unwritten.take();
  seconds = 4;
  void unwritten.add([key('mia'), key('max')]);
  seconds = 5;
  expect(standing()).toEqual([2, 5]);
  taken.written();
  expect(standing()).toEqual([2, 1]);
});

it('keys of a failed attempt wait since they were first added, and are taken again', () => {
  void unwritten.add([key('mia')]);
  for (const until of [10, 20, 30]) {
    const taken = unwritten.take();
    void unwritten.add([key('mia')]);
    seconds = until;
    taken.putBack();
    expect(standing()).toEqual([1, until]);
  }
  expect(unwritten.take().keys).toEqual([key('mia')]);
});

it('keys that will never be written do not keep callers waiting', async () => {
  const written = unwritten.add([key('mia')]);
  unwritten.giveUp();
  await written;
  expect(standing()).toEqual([0, 0]);
});
