import { describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { mapped, readBody, type BodyReading } from '../reading.js';
import { bookOf, ConnectionOfB } from './connection.js';
import { seenMarket } from './markets.js';
import { bookPage, marketPage, tradePage } from './shapes.js';
import { tradeEvent } from './trades.js';

// Bodies in the format that the venue documents; their values are made up.

const MARKET = {
  ...{ ticker: 'KXRAIN-26DEC01-T5', event_ticker: 'KXRAIN-26DEC01', market_type: 'binary' },
  ...{ title: 'Rain above 5 mm?', subtitle: '', yes_sub_title: 'Above 5 mm', no_sub_title: '5 mm or less' },
  ...{ created_time: '2026-11-20T09:00:00.123456Z', updated_time: '2026-11-27T18:30:00Z' },
  ...{ open_time: '2026-11-21T00:00:00Z', close_time: '2026-12-01T23:59:00Z' },
  ...{ latest_expiration_time: '2026-12-08T15:00:00Z', expected_expiration_time: '2026-12-02T15:00:00Z' },
  ...{ settlement_timer_seconds: 1800, status: 'active', result: '', can_close_early: true },
  ...{ yes_bid_dollars: '0.3300', yes_bid_size_fp: '120.00', yes_ask_dollars: '0.3500' },
  ...{ yes_ask_size_fp: '80.00', no_bid_dollars: '0.6500', no_ask_dollars: '0.6700' },
  ...{ last_price_dollars: '0.3400', volume_fp: '9300.50', volume_24h_fp: '300.00' },
  ...{ open_interest_fp: '4000.00', notional_value_dollars: '1.0000', expiration_value: '' },
  ...{ previous_yes_bid_dollars: '0.3100', previous_yes_ask_dollars: '0.3300' },
  ...{ previous_price_dollars: '0.3200', liquidity_dollars: '0.0000', strike_type: 'greater' },
  ...{ floor_strike: 5, rules_primary: 'If it rains more than 5 mm, Yes.', rules_secondary: '' },
  ...{ price_level_structure: 'tapered_deci_cent', is_provisional: false, exchange_index: 0 },
  price_ranges: [
    { start: '0.0000', end: '0.1000', step: '0.0010' },
    { start: '0.1000', end: '0.9000', step: '0.0100' },
    { start: '0.9000', end: '1.0000', step: '0.0010' },
  ],
};

const TRADE = {
  ...{ trade_id: '2f1c9c8a-9a53-4a7e-8f43-0b8f0f1a9a01', ticker: 'KXRAIN-26DEC01-T5', count_fp: '136.25' },
  ...{ yes_price_dollars: '0.3605', no_price_dollars: '0.6395', taker_side: 'no' },
  ...{ taker_outcome_side: 'no', taker_book_side: 'ask', is_block_trade: false },
  created_time: '2026-11-27T18:31:02.654321Z',
};

function read<T, U>(shape: z.ZodType<T>, body: object, map: (value: T) => U): BodyReading<U> {
  return mapped('a body', readBody('a body', JSON.stringify(body), shape), map);
}

function market(more: object = {}): BodyReading<ReturnType<typeof seenMarket>[]> {
  return read(marketPage, { markets: [{ ...MARKET, ...more }], cursor: '' }, ({ markets }) =>
    markets.map(seenMarket),
  );
}

function trade(more: object = {}): BodyReading<ReturnType<typeof tradeEvent>[]> {
  return read(tradePage, { trades: [{ ...TRADE, ...more }], cursor: 'next' }, ({ trades }) =>
    trades.map((each) => tradeEvent(each, 1)),
  );
}

describe('documented bodies of venue_b', () => {
  it('a market', () => {
    expect(market()).toMatchObject({
      value: [
        {
          ...{ status: 'open', last_price: 340_000, changed_at: Date.UTC(2026, 10, 27, 18, 30) * 1_000 },
          terms: {
            ...{ market_id: MARKET.ticker, ticker: MARKET.ticker, event_id: 'KXRAIN-26DEC01' },
            ...{ name: 'Rain above 5 mm?', outcomes: [{ label: 'Yes' }, { label: 'No' }] },
            listed_at: Date.UTC(2026, 10, 20, 9) * 1_000 + 123_456,
            expires_at: Date.UTC(2026, 11, 1, 23, 59) * 1_000,
            resolution_rules: { primary: MARKET.rules_primary, secondary: null, source: null },
            contract: { tick_size: 1_000, min_price: 1_000, max_price: 999_000, lot_size: 10_000n },
          },
        },
      ],
    });
  });

  it('trading does not change the terms of a market', () => {
    const terms = (more: object): unknown => {
      const read = market(more);
      return 'value' in read ? read.value[0]?.terms : undefined;
    };
    const traded = {
      last_price_dollars: '0.5000',
      yes_bid_dollars: '0.4000',
      volume_fp: '1.00',
      updated_time: '2026-11-28T00:00:00Z',
    };
    expect(terms(traded)).toEqual(terms({}));
  });

  it.each([
    ['initialized', '', 'closed', undefined],
    ['inactive', '', 'closed', undefined],
    ['closed', '', 'closed', undefined],
    ['closed', 'yes', 'closed', undefined],
    ['determined', 'yes', 'closed', { status: 'resolved', payouts: [1_000_000, 0] }],
    ['amended', 'no', 'closed', { status: 'resolved', payouts: [0, 1_000_000] }],
    ['disputed', 'no', 'closed', { status: 'resolved', payouts: [0, 1_000_000], disputed: true }],
    ['finalized', 'scalar', 'closed', { status: 'settled', payouts: [250_000, 750_000] }],
    ['finalized', '', 'closed', undefined],
  ])('a market with status %s and result %p', (status, result, ours, resolution) => {
    const read = market({ status, result, settlement_value_dollars: '0.2500' });
    if (!('value' in read)) throw new Error(read.quarantined);
    expect(read.value[0]?.status).toBe(ours);
    expect(read.value[0]?.resolution).toEqual(resolution);
  });

  it('a trade of a taker who bought No', () => {
    expect(trade()).toMatchObject({
      value: [
        {
          ...{ type: 'TRADE', provider: 'venue_b', source_id: TRADE.trade_id, market_id: TRADE.ticker },
          ...{ outcome_index: 1, price: 639_500, size: 136_250_000n, side: 'buy' },
          source_ts: Date.UTC(2026, 10, 27, 18, 31, 2) * 1_000 + 654_321,
        },
      ],
    });
    expect(trade({ taker_outcome_side: undefined })).toHaveProperty('value');
    expect(trade({ taker_side: undefined })).toHaveProperty('value');
  });

  it.each([
    ['a market without its last price', market({ last_price_dollars: undefined })],
    ['cents under the old name', market({ last_price_dollars: undefined, last_price: 34 })],
    ['an unknown status', market({ status: 'frozen' })],
    ['a result that is not documented', market({ result: 'void' })],
    ['a scalar without its value', market({ status: 'finalized', result: 'scalar' })],
    ['a price above 1', market({ last_price_dollars: '34' })],
    ['a price that is a number', market({ last_price_dollars: 0.34 })],
    ['a text that is not a time', market({ close_time: 'soon' })],
    ['a trade without its price', trade({ yes_price_dollars: undefined })],
    ['both prices 0', trade({ yes_price_dollars: '0.0000', no_price_dollars: '0.0000' })],
    ['a trade without a taker', trade({ taker_side: undefined, taker_outcome_side: undefined })],
    ['a taker who is neither yes nor no', trade({ taker_outcome_side: 'maybe' })],
    ['a trade of size 0', trade({ count_fp: '0.00' })],
    ['a trade of negative size', trade({ count_fp: '-1.00' })],
  ])('%s: the whole body is quarantined', (_, reading) => {
    expect(reading).toEqual({ quarantined: expect.any(String), body: expect.stringContaining('ticker') });
  });

  it('one bad trade quarantines the whole page', () => {
    const page = { trades: [TRADE, { ...TRADE, trade_id: 'x', count_fp: 'many' }], cursor: '' };
    expect(read(tradePage, page, () => undefined)).toMatchObject({
      quarantined: expect.stringContaining('trades.1.count_fp'),
    });
  });

  it('books: a bid for No is an offer of Yes', () => {
    const page = {
      orderbooks: [
        {
          ticker: 'T',
          orderbook_fp: { yes_dollars: [['0.3300', '120.00']], no_dollars: [['0.6500', '80.50']] },
        },
      ],
    };
    expect(
      read(bookPage, page, ({ orderbooks }) =>
        orderbooks.map((each) => bookOf(each.ticker, each.orderbook_fp)),
      ),
    ).toMatchObject({
      value: [
        {
          ...{ market_id: 'T', outcome_index: 0, bids: [{ price: 330_000, size: 120_000_000n }] },
          asks: [{ price: 350_000, size: 80_500_000n }],
        },
      ],
    });
  });
});

describe('documented frames of venue_b', () => {
  const delta = {
    ...{ market_ticker: 'T', market_id: '9b0f6b43-5b68-4f9f-9f02-9a2d1b8ac1a1', price_dollars: '0.9600' },
    ...{ delta_fp: '-54.00', side: 'yes', ts: '2026-11-27T18:31:02Z', ts_ms: 1_795_804_262_123 },
  };
  const news = (connection: ConnectionOfB, frame: object): unknown => {
    const reading = connection.read(JSON.stringify(frame));
    return 'value' in reading ? reading.value : reading.quarantined;
  };

  it('a snapshot, then changes, each sequence number once', () => {
    const connection = new ConnectionOfB();
    expect(
      news(connection, { type: 'subscribed', id: 1, msg: { channel: 'orderbook_delta', sid: 2 } }),
    ).toEqual([]);
    const snapshot = { market_ticker: 'T', yes_dollars_fp: [['0.0800', '300.00']] };
    expect(news(connection, { type: 'orderbook_snapshot', sid: 2, seq: 1, msg: snapshot })).toMatchObject([
      { what: 'book', book: { bids: [{ price: 80_000 }], asks: [] } },
    ]);
    const change = { type: 'orderbook_delta', sid: 2, seq: 2, msg: delta };
    expect(news(connection, change)).toEqual([
      {
        what: 'change',
        change: {
          ...{ market_id: 'T', outcome_index: 0, side: 'bids', price: 960_000, delta: -54_000_000n },
          at: 1_795_804_262_123_000,
        },
      },
    ]);
    expect(news(connection, change)).toEqual([]);
    expect(news(connection, { ...change, seq: 4 })).toMatchObject([{ what: 'lost' }]);
  });

  it.each([
    [
      'a trade is reported',
      { type: 'trade', sid: 1, seq: 1, msg: { market_ticker: 'T', ts: 1 } },
      [{ what: 'trade' }],
    ],
    [
      'a change of a market is reported',
      { type: 'market_lifecycle_v2', sid: 1, seq: 1, msg: { market_ticker: 'T', event_type: 'settled' } },
      [{ what: 'market' }],
    ],
    [
      'a first sequence number other than 1 means lost frames',
      { type: 'trade', sid: 1, seq: 2, msg: { market_ticker: 'T' } },
      [{ what: 'lost', reason: 'numbers are missing' }],
    ],
    [
      'an error ends the subscription',
      { type: 'error', msg: { code: 17, msg: 'Internal error' } },
      [{ what: 'lost', reason: 'Internal error' }],
    ],
    ['an unknown type is quarantined', { type: 'gossip', msg: {} }, expect.stringContaining('type')],
    [
      'a change without its price is quarantined',
      { type: 'orderbook_delta', sid: 1, seq: 1, msg: { ...delta, price_dollars: undefined } },
      expect.stringContaining('price_dollars'),
    ],
  ])('%s', (_, frame, expected) => {
    expect(news(new ConnectionOfB(), frame)).toEqual(expected);
  });
});
