import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { makerNamed, ORIGINATOR } from '#libs/testing/auctions/story.js';
import { anyTale, tell } from '#libs/testing/auctions/tales.js';
import { quotesFor } from './award-view.js';
import { timeline } from './timeline.js';
import { auctionView, viewVersion } from './view.js';
import { completionFor, isDecided, isOverFor } from './viewer.js';

const VIEWERS = [ORIGINATOR, ...['mia', 'max', 'moe', 'may'].map(makerNamed)];
const everyMaker = () => true;

/** Asserts `holds` for every viewer at every prefix of any auction. */
function atEveryPrefix(
  holds: (told: ReturnType<typeof timeline>, viewer: (typeof VIEWERS)[number]) => void,
): void {
  fc.assert(
    fc.property(anyTale, (tale) => {
      const { events } = tell(tale, everyMaker);
      for (const viewer of VIEWERS) {
        events.forEach((_event, index) => holds(timeline(events.slice(0, index + 1), viewer), viewer));
      }
    }),
    { numRuns: 150 },
  );
}

describe('at every prefix of the journal, for every viewer', () => {
  it('view_version is the number of entries', () => {
    atEveryPrefix(({ entries, state }, viewer) => {
      expect(state && viewVersion(state, viewer)).toBe(entries.length);
      expect(state && auctionView(state, viewer).view_version).toBe(entries.at(-1)?.seq);
    });
  });

  it('numbers are dense from 1', () => {
    atEveryPrefix(({ entries }) => {
      expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_entry, index) => index + 1));
    });
  });

  it('AUCTION_COMPLETED comes once, last, exactly when the auction is over, with the status of the view', () => {
    atEveryPrefix(({ entries, state }, viewer) => {
      if (state === undefined) return;
      const endings = entries.filter((entry) => entry.kind === 'AUCTION_COMPLETED');
      expect(endings).toHaveLength(isOverFor(state, viewer) ? 1 : 0);
      if (endings.length === 0) return;
      expect(entries.at(-1)).toBe(endings[0]);
      const { status, completed_at, phase } = auctionView(state, viewer);
      expect(phase).toBe('COMPLETED');
      expect(endings[0]).toMatchObject({ occurred_at: completed_at, data: { status } });
      expect(completionFor(state, viewer)).toBe(completed_at);
    });
  });

  it('the close, the awards and their absence bear closes_at', () => {
    atEveryPrefix(({ entries, state }) => {
      const kinds = [
        'AUCTION_CLOSED',
        'AUCTION_AWARDED',
        'AUCTION_NOT_AWARDED',
        'QUOTE_AWARDED',
        'QUOTE_NOT_AWARDED',
      ];
      const times = entries.filter((entry) => kinds.includes(entry.kind)).map((entry) => entry.occurred_at);
      expect(times.every((time) => time === state?.terms.closes_at)).toBe(true);
    });
  });

  it('the last quote entry equals the quote in the view', () => {
    atEveryPrefix(({ entries, state }, viewer) => {
      if (state === undefined || isDecided(state) || state.cancellation !== undefined) return;
      const lastEntry = entries.findLast((entry) => 'quote' in entry.data);
      const view = auctionView(state, viewer);
      const quote = view.role === 'MARKET_MAKER' ? view.my_quote : undefined;
      expect(lastEntry && 'quote' in lastEntry.data ? lastEntry.data.quote : undefined).toEqual(quote);
    });
  });

  it('an entry never changes later', () => {
    fc.assert(
      fc.property(anyTale, fc.nat(), (tale, cut) => {
        const { events } = tell(tale, everyMaker);
        const part = events.slice(0, cut % (events.length + 1));
        for (const viewer of VIEWERS) {
          const early = timeline(part, viewer).entries;
          expect(JSON.stringify(timeline(events, viewer).entries.slice(0, early.length))).toBe(
            JSON.stringify(early),
          );
        }
      }),
    );
  });

  it('no field is null, and all survives JSON', () => {
    atEveryPrefix(({ entries, state }, viewer) => {
      const seen = state && [auctionView(state, viewer), quotesFor(state, viewer), entries];
      expect(JSON.parse(JSON.stringify(seen))).toEqual(seen);
      expect(JSON.stringify(seen)).not.toContain(':null');
    });
  });
});
