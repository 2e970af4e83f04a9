import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { instantFromNanos } from '#libs/base/instant.js';
import { Agenda } from './agenda.js';

const moment = fc.nat(50).map((nanos) => instantFromNanos(BigInt(nanos)));

it('gives back what is due, earliest first, no more than asked for, and keeps the rest', () => {
  fc.assert(
    fc.property(
      fc.array(moment, { maxLength: 60 }),
      moment,
      fc.integer({ min: 1, max: 20 }),
      (times, now, limit) => {
        const agenda = new Agenda();
        for (const [index, at] of times.entries()) agenda.add({ at, auctionId: String(index) });
        const sorted = [...times].sort();
        const due = sorted.filter((at) => at <= now).slice(0, limit);
        expect(agenda.next()).toBe(sorted[0]);
        expect(agenda.takeDue(now, limit).map(({ at }) => at)).toEqual(due);
        expect(agenda.size).toBe(times.length - due.length);
        const rest = agenda.takeDue(instantFromNanos(100n), 1_000).map(({ at }) => at);
        expect(rest).toEqual(sorted.slice(due.length));
        expect(agenda.next()).toBeUndefined();
      },
    ),
  );
});

it('loses nobody who shares a moment with others', () => {
  const agenda = new Agenda();
  const at = instantFromNanos(1n);
  for (let index = 0; index < 20; index += 1) agenda.add({ at, auctionId: String(index) });
  expect(new Set(agenda.takeDue(at, 100).map(({ auctionId }) => auctionId)).size).toBe(20);
});
