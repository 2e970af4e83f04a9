import { describe, expect, it } from '@jest/globals';
import { mapped, readBody, type BodyReading } from '../reading.js';
import { ConnectionOfE, tradeEvent } from './connection.js';
import { seenMarket, settledMarket, sideOfToken, tokenOf } from './markets.js';
import { outcomeMeta, settledList, tradeList } from './shapes.js';

// Bodies in the format that the venue documents; their values are made up.

const OUTCOME = {
  ...{ outcome: 9, name: 'Recurring', quoteToken: 'USDH' },
  description: 'class:priceBinary|underlying:HYPE|expiry:20261130-0600|targetPrice:30|period:1d',
  sideSpecs: [{ name: 'Yes', token: 100_000_090 }, { name: 'No' }],
};

const TRADE = {
  ...{ coin: '#91', side: 'A', px: '0.18435', sz: '93.0', time: 1_795_804_262_123, tid: 118_906_512_037_719 },
  hash: `0x${'ab'.repeat(32)}`,
  users: [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`],
};

function market(more: object = {}): BodyReading<ReturnType<typeof seenMarket>[]> {
  const body = JSON.stringify({ outcomes: [{ ...OUTCOME, ...more }], questions: [] });
  return mapped('markets', readBody('markets', body, outcomeMeta), ({ outcomes }) =>
    outcomes.map(seenMarket),
  );
}

function trade(more: object = {}): BodyReading<ReturnType<typeof tradeEvent>[]> {
  const body = JSON.stringify([{ ...TRADE, ...more }]);
  return mapped('trades', readBody('trades', body, tradeList), (list) =>
    list.map((each) => tradeEvent(each, 1)),
  );
}

describe('documented bodies of venue_e', () => {
  it('an outcome with the few fields of the real venue', () => {
    expect(market()).toMatchObject({
      value: [
        {
          status: 'active',
          terms: {
            ...{ market_id: '9', name: 'Recurring', expires_at: Date.UTC(2026, 10, 30, 6) * 1_000 },
            outcomes: [
              { label: 'Yes', token_id: '#90' },
              { label: 'No', token_id: '#91' },
            ],
            contract: { quote_currency: 'USDH' },
          },
        },
      ],
    });
  });

  it('the fields that the practice venue adds', () => {
    const description =
      'status:halted|expiry:1800000000000|listed:1795000000000|updated:1795000001000|size:1.0|ticks:0.0/1.0/0.0001|contract:c|neg_risk:true';
    expect(market({ description })).toMatchObject({
      value: [
        {
          ...{ status: 'closed', changed_at: 1_795_000_001_000_000 },
          terms: {
            ...{ listed_at: 1_795_000_000_000_000, expires_at: 1_800_000_000_000_000 },
            contract: { tick_size: 100, min_price: 100, max_price: 999_900, lot_size: 1_000_000n },
          },
        },
      ],
    });
  });

  it('an outcome that has settled', () => {
    const body = JSON.stringify([{ spec: OUTCOME, settleFraction: '0.25', details: '' }]);
    const read = mapped('settled', readBody('settled', body, settledList), (list) => list.map(settledMarket));
    expect(read).toMatchObject({
      value: [{ resolution: { status: 'settled', payouts: [250_000, 750_000] } }],
    });
  });

  it('a trade, without its parties', () => {
    const read = trade();
    expect(read).toMatchObject({
      value: [
        {
          ...{ source_id: '118906512037719', market_id: '9', outcome_index: 1, side: 'sell' },
          ...{ price: 184_350, size: 93_000_000n, source_ts: 1_795_804_262_123_000, tx_hash: TRADE.hash },
        },
      ],
    });
    expect(Object.keys('value' in read ? (read.value[0] ?? {}) : {})).not.toContain('taker');
  });

  it.each([
    ['a trade with a renamed price', trade({ px: undefined, price: '0.5' })],
    ['a side that is neither A nor B', trade({ side: 'C' })],
    ['a coin that is not a side of an outcome', trade({ coin: 'BTC' })],
    ['a third side', trade({ coin: '#92' })],
    ['a trade of size 0', trade({ sz: '0.0' })],
    ['a price above 1', trade({ px: '1.5' })],
    ['a price with an exponent', trade({ px: '1e-3' })],
    ['an outcome with three sides', market({ sideSpecs: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] })],
    ['an unknown status', market({ description: 'status:frozen' })],
    ['an outcome without a name', market({ name: undefined })],
  ])('%s: the whole body is quarantined', (_, reading) => {
    expect(reading).toEqual({ quarantined: expect.any(String), body: expect.any(String) });
  });

  it('token ids and sides', () => {
    for (const [id, side] of [
      ['5', 0],
      ['5', 1],
      ['1234567', 1],
    ] as const) {
      expect(sideOfToken(tokenOf(id, side))).toEqual({ market_id: id, outcome_index: side });
    }
    expect(tokenOf('5', 1)).toBe('#51');
  });
});

describe('documented frames of venue_e', () => {
  const connection = new ConnectionOfE(() => 7);

  it.each([
    [{ channel: 'trades', data: [TRADE] }, [{ what: 'trade', trade: { source_id: String(TRADE.tid) } }]],
    [
      { channel: 'l2Book', data: { coin: '#90', time: 5, levels: [[{ px: '0.3', sz: '1', n: 1 }], []] } },
      [{ what: 'book', book: { at: 5_000, outcome_index: 0, bids: [{ price: 300_000 }], asks: [] } }],
    ],
    [
      { channel: 'outcomeMetaUpdates', data: { updates: [{ outcomeSettled: { outcome: 9 } }] } },
      [{ what: 'market' }],
    ],
    [{ channel: 'pong' }, []],
    [{ channel: 'subscriptionResponse', data: {} }, []],
    [
      { channel: 'error', data: 'Too many subscriptions' },
      [{ what: 'lost', reason: 'Too many subscriptions' }],
    ],
  ])('%j', (frame, expected) => {
    const reading = connection.read(JSON.stringify(frame));
    expect('value' in reading ? reading.value : reading).toMatchObject(expected);
  });

  it.each([[{ channel: 'gossip', data: {} }], [{ channel: 'trades', data: [{ ...TRADE, px: undefined }] }]])(
    '%j is quarantined',
    (frame) => {
      expect(connection.read(JSON.stringify(frame))).toHaveProperty('quarantined');
    },
  );

  it('subscribes to no more than the venue allows per connection, trades first', () => {
    const ids = Array.from({ length: 400 }, (_, index) => String(index));
    const messages = new ConnectionOfE(() => 7).follow(ids);
    expect(messages).toHaveLength(900);
    expect(messages.filter((text) => text.includes('"trades"'))).toHaveLength(800);
    expect(messages[0]).toContain('outcomeMetaUpdates');
  });
});
