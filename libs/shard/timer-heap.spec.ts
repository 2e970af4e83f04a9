import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { instantFromNanos } from '#libs/base/instant.js';
import { TimerHeap } from './timer-heap.js';

const moment = fc.nat(50).map((nanos) => instantFromNanos(BigInt(nanos)));

it('returns the due timers, earliest first, at most the limit, and keeps the rest', () => {
  fc.assert(
    fc.property(
      fc.array(moment, { maxLength: 60 }),
      moment,
      fc.integer({ min: 1, max: 20 }),
      (times, now, limit) => {
        const timers = new TimerHeap<string>();
        for (const [index, at] of times.entries()) timers.add({ at, key: String(index) });
        const sorted = [...times].sort();
        const due = sorted.filter((at) => at <= now).slice(0, limit);
        expect(timers.next()).toBe(sorted[0]);
        expect(timers.takeDue(now, limit).map(({ at }) => at)).toEqual(due);
        expect(timers.size).toBe(times.length - due.length);
        const rest = timers.takeDue(instantFromNanos(100n), 1_000).map(({ at }) => at);
        expect(rest).toEqual(sorted.slice(due.length));
        expect(timers.next()).toBeUndefined();
      },
    ),
  );
});

it('loses no timer that is due at the same moment as others', () => {
  const timers = new TimerHeap<string>();
  const at = instantFromNanos(1n);
  for (let index = 0; index < 20; index += 1) timers.add({ at, key: String(index) });
  expect(new Set(timers.takeDue(at, 100).map(({ key }) => key)).size).toBe(20);
});
