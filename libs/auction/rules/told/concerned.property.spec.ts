import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AuctionEvent, Placed } from '../events.js';
import { anyTale, tell } from '#libs/testing/auctions/tales.js';
import { concernedBy, partiesOf } from './concerned.js';
import { evolve } from '../evolve/evolve.js';
import type { AuctionState } from '../state.js';
import { timelineEntries } from './timeline.js';
import { viewerOf } from './viewer.js';

const EVERYBODY = ['olga', 'mia', 'max', 'moe', 'may', 'nobody'];

interface Seen {
  readonly placed: Placed<AuctionEvent>;
  readonly after: AuctionState;
  readonly told: readonly string[];
  /** Who really gains an entry, asked one by one. */
  readonly gaining: readonly string[];
}

function look(events: readonly Placed<AuctionEvent>[]): Seen[] {
  let before: AuctionState | undefined;
  return events.map((placed) => {
    const after = evolve(before, placed);
    const gaining = EVERYBODY.filter((account) => {
      const viewer = viewerOf(after, account);
      return viewer !== undefined && timelineEntries(before, placed, after, viewer).length > 0;
    });
    before = after;
    return { placed, after, told: concernedBy(placed.event, after), gaining };
  });
}

function overTales(check: (seen: Seen) => void): void {
  fc.assert(
    fc.property(anyTale, (tale) => {
      look(tell(tale, () => true).events).forEach(check);
    }),
    { numRuns: 300 },
  );
}

describe('whom an event concerns', () => {
  it('is everybody whose timeline gains an entry by it', () => {
    overTales(({ told, gaining }) => {
      expect(told).toEqual(expect.arrayContaining([...gaining]));
    });
  });

  it('is nobody who may not see the auction, and nobody twice', () => {
    overTales(({ told, after }) => {
      expect(partiesOf(after)).toEqual(expect.arrayContaining([...told]));
      expect(new Set(told).size).toBe(told.length);
    });
  });

  it('is of a quote its maker alone, so that nobody else is even asked', () => {
    overTales(({ placed, told }) => {
      const { data } = placed.event;
      if ('maker' in data) expect(told).toEqual([data.maker]);
      if ('quote' in data) expect(told).toEqual([data.quote.maker]);
    });
  });

  it('is of an execution the originator and the winner of that award', () => {
    overTales(({ placed, told, after }) => {
      const { data } = placed.event;
      if (!('attempt' in data)) return;
      const winner = after.awards.find(({ award_id: id }) => id === data.award_id)?.maker;
      expect(told).toEqual(['olga', winner]);
    });
  });
});
