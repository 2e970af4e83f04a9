import { describe, expect, it } from '@jest/globals';
import type { BookState } from '../../rules/books.js';
import type { MarketEvent, MarketDataEvent } from '../../rules/events.js';
import { type FoldedMarket, listedMarket, marketAfter, resolutionOf } from '../../rules/markets.js';
import type { OutcomeNow } from '../../store/price-reader.js';
import { complementRow, perpetualRow, resolutionRow, tickSizeRow } from './contract-rows.js';
import { askedOutcomes, bookRow, markRow } from './instrument-rows.js';

const AT = Date.UTC(2026, 10, 28, 9) * 1_000;

const LISTED: MarketEvent = {
  ...{ type: 'MARKET', provider: 'venue_a', market_id: 'm', source_id: 'm1', source_ts: AT, received_at: AT },
  name: 'Will it?',
  outcomes: [{ label: 'Yes', token_id: 'yes-1' }, { label: 'No' }],
  contract: {
    ...{ tick_size: 10_000, min_price: 1, max_price: 999_000, lot_size: 1_000_000n },
    bands: [{ start: 0, end: 100_000, step: 2_500 }],
  },
};
const MARKET = listedMarket(LISTED);

const BOOK: BookState = {
  ...{ sequence: 7n, source_ts: AT + 5, isDropped: false },
  bids: [
    { price: 410_000, size: 1_500_000n },
    { price: 400_000, size: 1n },
  ],
  asks: [{ price: 430_000, size: 2_000_000n }],
};

const NOTHING: OutcomeNow = { price: null, liquidity: null, isStale: false };

function after(market: FoldedMarket, event: Exclude<MarketDataEvent, { type: 'BOOK' }>): FoldedMarket {
  if (event.type !== 'MARKET' && event.type !== 'STATUS' && event.type !== 'RESOLUTION') return market;
  const read = marketAfter(market, event);
  if (!read.ok) throw new Error(read.refusal);
  return read.state;
}

const envelope = { provider: 'venue_a', market_id: 'm', received_at: AT } as const;

describe('the requested outcomes', () => {
  it('are all of a market, the one of a token id, or the one of asset_id, also by former names', () => {
    const renamed = after(MARKET, {
      ...{ ...LISTED, source_id: 'm2', source_ts: AT + 1 },
      outcomes: [
        { label: 'No', token_id: 'no-2' },
        { label: 'Yes', token_id: 'yes-1' },
      ],
    });
    const found = { marketNo: 1, state: renamed };
    expect(askedOutcomes(found)).toEqual([0, 1]);
    expect(askedOutcomes({ ...found, outcomeIndex: 1 })).toEqual([1]);
    expect(askedOutcomes(found, 'no-2')).toEqual([1]);
    expect(askedOutcomes({ ...found, outcomeIndex: 0 }, 'no-2')).toEqual([]);
    expect(askedOutcomes(found, 'of another market')).toEqual([]);
  });
});

describe('a mark', () => {
  it('tells its source and since when it holds', () => {
    const now: OutcomeNow = {
      ...{ price: { price: 420_000, source: 'mid' }, liquidity: 0n, isStale: false, book: BOOK },
      last: { price: 390_001, ts: AT + 1 },
    };
    const row = {
      ...{ contract_id: 'as sent', asset_id: 'yes-1', outcome_index: 0, outcome: 'Yes' },
      ...{ bid: 0.41, ask: 0.43, last: 0.390001 },
    };
    expect(markRow(MARKET, 'as sent', 0, now)).toEqual({
      ...{ ...row, mark: 0.42, source: 'mid' },
      ...{ as_of: '2026-11-28T09:00:00.000005Z', stale: false },
    });
    const stale = { ...now, price: { price: 390_001, source: 'last' as const }, isStale: true };
    expect(markRow(MARKET, 'as sent', 0, stale)).toEqual({
      ...{ ...row, mark: 0.390001, source: 'last' },
      ...{ as_of: '2026-11-28T09:00:00.000001Z', stale: true },
    });
  });

  it('is null for an outcome without trades and without a book', () => {
    expect(markRow(MARKET, 'm', 1, NOTHING)).toEqual({
      ...{ contract_id: 'm', asset_id: null, outcome_index: 1, outcome: 'No' },
      ...{ mark: null, bid: null, ask: null, last: null, source: null, as_of: null, stale: false },
    });
  });

  it('is the payout from the time of the resolution', () => {
    const paid = after(MARKET, {
      ...{ ...envelope, type: 'RESOLUTION', source_id: 'r', source_ts: AT + 9, status: 'resolved' },
      payouts: [0, 1_000_000],
    });
    const now = { ...NOTHING, price: { price: 0, source: 'payout' as const } };
    expect(markRow(paid, 'm', 0, now)).toMatchObject({
      ...{ mark: 0, source: 'payout', as_of: '2026-11-28T09:00:00.000009Z' },
    });
  });
});

describe('a book', () => {
  it('is cut to its depth, best first, and has its own time', () => {
    const now = { ...NOTHING, book: BOOK, isStale: true, last: { price: 5, ts: AT } };
    expect(bookRow(MARKET, 'yes-1', 0, { now, depth: 1 })).toEqual({
      ...{ contract_id: 'yes-1', asset_id: 'yes-1', outcome_index: 0, outcome: 'Yes' },
      ...{ bids: [[0.41, 1.5]], asks: [[0.43, 2]], last: 0.000005, sequence: 7, stale: true },
      as_of: '2026-11-28T09:00:00.000005Z',
    });
    expect(bookRow(MARKET, 'm', 0, { now, depth: 2 }).bids).toEqual([
      [0.41, 1.5],
      [0.4, 0.000001],
    ]);
  });

  it('is empty if there is no book', () => {
    expect(bookRow(MARKET, 'm', 1, { now: NOTHING, depth: 20 })).toMatchObject({
      ...{ bids: [], asks: [], last: null, sequence: null, as_of: null, stale: false },
    });
  });
});

it('a complement is one minus its leg', () => {
  const ofB = listedMarket({ ...LISTED, provider: 'venue_b' });
  const row = {
    ...{ synthetic_id: 'complement:venue_b:m', kind: 'complement' },
    legs: [{ provider: 'venue_b', contract_id: 'm', weight: -1 }],
  };
  const now: OutcomeNow = { ...NOTHING, price: { price: 415_000, source: 'mid' }, book: BOOK };
  expect(complementRow(ofB, now)).toEqual({ ...row, mark: 0.585, as_of: '2026-11-28T09:00:00.000005Z' });
  expect(complementRow(ofB, NOTHING)).toEqual({ ...row, mark: null, as_of: null });
});

describe('a resolution', () => {
  it('that voids the market has no winner', () => {
    const voided = after(MARKET, {
      ...{ ...envelope, type: 'RESOLUTION', source_id: 'r', source_ts: AT, status: 'resolved' },
      ...{ payouts: [500_000, 500_000], source_url: 'https://venue.example/r', disputed: true },
    });
    const resolution = resolutionOf(voided);
    expect(resolution && resolutionRow('m', resolution)).toEqual({
      ...{ contract_id: 'm', status: 'resolved', outcome_index: null, payout: [0.5, 0.5] },
      ...{ resolved_at: '2026-11-28T09:00:00Z', settled_at: null },
      ...{ source_url: 'https://venue.example/r', disputed: true },
    });
  });

  it('of a market that was settled without a resolution has the time of the settlement', () => {
    const settled = after(MARKET, {
      ...{ ...envelope, type: 'RESOLUTION', source_id: 'r', source_ts: AT + 1_000_000, status: 'settled' },
      payouts: [1_000_000, 0],
    });
    const resolution = resolutionOf(settled);
    expect(resolution && resolutionRow('m', resolution)).toEqual({
      ...{ contract_id: 'm', status: 'settled', outcome_index: 0, payout: [1, 0] },
      ...{ resolved_at: '2026-11-28T09:00:01Z', settled_at: '2026-11-28T09:00:01Z' },
      ...{ source_url: null, disputed: false },
    });
  });
});

it('numbers of a perpetual have at most six decimals and no exponent', () => {
  const content = {
    ...{ index: '64000.5', funding_rate: '-0.000012345678', open_interest: '123456789012' },
    next_funding_at: '2026-11-28T16:00:00Z',
  };
  expect(perpetualRow({ symbol: 'BTC', price: '64001.25', content })).toEqual({
    ...{ symbol: 'BTC', mark: 64001.25, index: 64000.5, funding_rate: -0.000012 },
    ...{ next_funding_at: '2026-11-28T16:00:00Z', open_interest: 123456789012 },
  });
  const tiny = perpetualRow({ symbol: 'X', price: '1', content: { funding_rate: '0.0000004' } });
  expect(tiny).toMatchObject({ funding_rate: 0, index: null, next_funding_at: null });
});

describe('a tick size', () => {
  it('comes from the newest MARKET event, and is null if the venue gives none', () => {
    expect(tickSizeRow(MARKET, 'yes-1', 'yes-1')).toEqual({
      ...{ provider: 'venue_a', contract_id: 'yes-1', asset_id: 'yes-1' },
      ...{ tick_size: 0.01, min_price: 0.000001, max_price: 0.999, as_of: '2026-11-28T09:00:00Z' },
      bands: [{ start: 0, end: 0.1, step: 0.0025 }],
    });
    const bare = listedMarket({ ...LISTED, contract: {} });
    expect(tickSizeRow(bare, 'm', null)).toMatchObject({
      ...{ asset_id: null, tick_size: null, min_price: null, max_price: null, bands: [] },
    });
  });
});
