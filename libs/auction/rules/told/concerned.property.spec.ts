import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AuctionEvent, Placed } from '../events.js';
import { anyTale, tell } from '#libs/testing/auctions/tales.js';
import { concernedBy, partiesOf } from './concerned.js';
import { evolve } from '../evolve/evolve.js';
import type { AuctionState } from '../state.js';
import { timelineEntries } from './timeline.js';
import { viewerOf } from './viewer.js';

const ACCOUNTS = ['olga', 'mia', 'max', 'moe', 'may', 'none'];

interface Observation {
  readonly placed: Placed<AuctionEvent>;
  readonly after: AuctionState;
  readonly told: readonly string[];
  /** The accounts that really gain an entry, computed one by one. */
  readonly gaining: readonly string[];
}

function observe(events: readonly Placed<AuctionEvent>[]): Observation[] {
  let before: AuctionState | undefined;
  return events.map((placed) => {
    const after = evolve(before, placed);
    const gaining = ACCOUNTS.filter((account) => {
      const viewer = viewerOf(after, account);
      return viewer !== undefined && timelineEntries(before, placed, after, viewer).length > 0;
    });
    before = after;
    return { placed, after, told: concernedBy(placed.event, after), gaining };
  });
}

function overTales(check: (seen: Observation) => void): void {
  fc.assert(
    fc.property(anyTale, (tale) => {
      observe(tell(tale, () => true).events).forEach(check);
    }),
    { numRuns: 300 },
  );
}

describe('the accounts that an event concerns', () => {
  it('include every account whose timeline gains an entry', () => {
    overTales(({ told, gaining }) => {
      expect(told).toEqual(expect.arrayContaining([...gaining]));
    });
  });

  it('may all see the auction, and are each listed once', () => {
    overTales(({ told, after }) => {
      expect(partiesOf(after)).toEqual(expect.arrayContaining([...told]));
      expect(new Set(told).size).toBe(told.length);
    });
  });

  it('are the maker alone for an event of a quote', () => {
    overTales(({ placed, told }) => {
      const { data } = placed.event;
      if ('maker' in data) expect(told).toEqual([data.maker]);
      if ('quote' in data) expect(told).toEqual([data.quote.maker]);
    });
  });

  it('are the originator and the winner for a step of an award', () => {
    overTales(({ placed, told, after }) => {
      const { data } = placed.event;
      if (!('attempt' in data)) return;
      const winner = after.awards.find(({ award_id: id }) => id === data.award_id)?.maker;
      expect(told).toEqual(['olga', winner]);
    });
  });
});
