import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BookState } from './books.js';
import type { MarketEvent, ListingStatus } from './events.js';
import { listedMarket, marketAfter, type FoldedMarket } from './markets.js';
import { outcomeLiquidity, referencePrice } from './reference-price.js';
import type { Provider } from './providers.js';

const NOW = 1_795_176_000_000_000;

function market(provider: Provider, status: ListingStatus, payouts?: readonly number[]): FoldedMarket {
  const at = { provider, market_id: 'm', source_ts: NOW, received_at: NOW };
  const listing: MarketEvent = {
    ...{ ...at, type: 'MARKET', source_id: 'a', name: 'Rain?' },
    outcomes: [{ label: 'Yes' }, { label: 'No' }],
  };
  const listed = listedMarket(listing);
  const resolution = { ...at, type: 'RESOLUTION', source_id: 'b', status: 'resolved' } as const;
  const read = payouts === undefined ? undefined : marketAfter(listed, { ...resolution, payouts });
  const paid = read?.ok === true ? read.state : listed;
  const after = marketAfter(paid, { ...at, type: 'STATUS', source_id: 'c', status });
  if (!after.ok) throw new Error(after.refusal);
  return after.state;
}

const anyBook: fc.Arbitrary<BookState> = fc
  .record({
    bid: fc.option(fc.integer({ min: 400_000, max: 500_000 })),
    spread: fc.option(fc.integer({ min: 1, max: 150_000 })),
    age: fc.nat(20_000_000),
    isDropped: fc.boolean(),
  })
  .map(({ bid, spread, age, isDropped }) => ({
    ...{ sequence: 1n, source_ts: NOW - age, isDropped },
    bids: bid === null ? [] : [{ price: bid, size: 2_000_000n }],
    asks: spread === null ? [] : [{ price: (bid ?? 500_000) + spread, size: 1_000_000n }],
  }));
const anyCase = fc.record({
  provider: fc.constantFrom<Provider>('venue_a', 'venue_b', 'venue_f'),
  status: fc.constantFrom<ListingStatus>('active', 'closed', 'resolved', 'settled'),
  payouts: fc.constantFrom(undefined, [1_000_000, 0], [250_000, 750_000]),
  book: fc.option(anyBook, { nil: undefined }),
  last: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
  outcome: fc.constantFrom(0, 1),
});

describe('the reference price', () => {
  it('is the payout, else the mid of a fresh book, else the last trade, else null', () => {
    const sources = new Set<string>();
    fc.assert(
      fc.property(anyCase, ({ provider, status, payouts, book, last, outcome }) => {
        const turned = (price: number): number =>
          provider !== 'venue_a' && outcome === 1 ? 1_000_000 - price : price;
        const got = referencePrice(market(provider, status, payouts), outcome, { book, last }, NOW);
        const [bid, ask] = [book?.bids[0]?.price, book?.asks[0]?.price];
        const isUsable = book !== undefined && !book.isDropped && NOW - book.source_ts <= 10_000_000;
        sources.add(got?.source ?? 'none');
        if (payouts !== undefined && (status === 'resolved' || status === 'settled')) {
          expect(got).toEqual({ price: payouts[outcome], source: 'payout' });
        } else if (isUsable && bid !== undefined && ask !== undefined && ask - bid <= 100_000) {
          expect(got).toEqual({ price: turned(Math.floor((bid + ask + 1) / 2)), source: 'mid' });
        } else expect(got).toEqual(last === undefined ? null : { price: turned(last), source: 'last' });
      }),
      { numRuns: 1_000 },
    );
    expect(sources).toEqual(new Set(['payout', 'mid', 'last', 'none']));
  });

  it('has no price and no liquidity from a book whose feed is silent', () => {
    const book = {
      ...{ sequence: 1n, source_ts: NOW - 10_000_001, isDropped: false },
      bids: [{ price: 10_000, size: 1_000_000n }],
      asks: [{ price: 20_000, size: 1_000_000n }],
    };
    const open = market('venue_a', 'active');
    expect(referencePrice(open, 0, { book, last: 600_000 }, NOW)).toEqual({ price: 600_000, source: 'last' });
    expect(outcomeLiquidity(open, 0, { book }, NOW)).toBeNull();
    expect(outcomeLiquidity(open, 0, { book: { ...book, source_ts: NOW } }, NOW)).toBe(30_000n);
  });

  it('liquidity on a single book uses the prices of the requested outcome', () => {
    const book = {
      ...{ sequence: 1n, source_ts: NOW, isDropped: false },
      bids: [{ price: 400_000, size: 1_000_000n }],
      asks: [{ price: 420_000, size: 2_000_000n }],
    };
    expect(outcomeLiquidity(market('venue_b', 'open'), 0, { book }, NOW)).toBe(1_240_000n);
    expect(outcomeLiquidity(market('venue_b', 'open'), 1, { book }, NOW)).toBe(1_760_000n);
    expect(outcomeLiquidity(market('venue_b', 'open'), 1, {}, NOW)).toBeNull();
  });
});
