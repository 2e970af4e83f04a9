import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  contentOf,
  readMarket,
  readRecord,
  writeMarket,
  writeRecord,
  type JournalRecord,
} from './event-codec.js';
import {
  LEDGER_KINDS,
  MARKET_STATUSES,
  type JsonMembers,
  type MarketEvent,
  type TradeEvent,
} from './events.js';
import { listedMarket, marketAfter } from './markets.js';
import { PROVIDERS } from './providers.js';

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('12', 'size', '{"size":"1"}'));
const anyTime = fc.maxSafeNat();
const anyPrice = fc.integer({ min: 0, max: 1_000_000 });
const anyBigint = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
/** Without -0, which JSON lacks; with member names like ours. */
const anyJson = fc
  .dictionary(
    fc.oneof(fc.string(), fc.constantFrom('size', 'contract', 'lot_size', '__proto__')),
    fc.jsonValue(),
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonMembers);

const SOURCED = { source_id: anyText, source_ts: anyTime, received_at: anyTime };
const OF_PROVIDER = { ...SOURCED, provider: fc.constantFrom(...PROVIDERS) };
const OF_MARKET = { ...OF_PROVIDER, market_id: anyText };

function one(type: string, required: object, optional: object = {}): fc.Arbitrary<unknown> {
  const model = { type: fc.constant(type), ...required, ...optional };
  return fc.record(model, {
    requiredKeys: ['type', ...Object.keys(required)] as never,
    noNullPrototype: true,
  });
}

const anyMarket = one(
  'MARKET',
  {
    ...OF_MARKET,
    name: anyText,
    outcomes: fc.array(
      fc.record({ label: anyText, token_id: anyText }, { requiredKeys: ['label'], noNullPrototype: true }),
      {
        minLength: 1,
      },
    ),
  },
  {
    status: fc.constantFrom(...MARKET_STATUSES),
    listed_at: anyTime,
    ctf_neg_risk: fc.boolean(),
    raw: anyJson,
    tags: fc.array(fc.record({ id: anyText, name: anyText }, { noNullPrototype: true })),
    resolution_rules: fc.record(
      { primary: anyText, secondary: fc.constant(null), source: anyText },
      { noNullPrototype: true },
    ),
    contract: fc.record(
      {
        tick_size: anyPrice,
        lot_size: anyBigint,
        bands: fc.array(
          fc.record({ start: anyPrice, end: anyPrice, step: anyPrice }, { noNullPrototype: true }),
        ),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  },
) as fc.Arbitrary<MarketEvent>;
const anyRecord = fc.oneof(
  anyMarket,
  one('STATUS', { ...OF_MARKET, status: fc.constantFrom(...MARKET_STATUSES) }),
  one(
    'TRADE',
    { ...OF_MARKET, outcome_index: fc.nat(63), price: anyPrice, size: anyBigint },
    { side: fc.constantFrom('buy', 'sell'), seq: anyBigint, maker: anyText, tx_hash: anyText },
  ),
  one('TRADE_BUST', { ...OF_PROVIDER, trade_source_id: anyText }),
  one(
    'LEDGER',
    { ...OF_MARKET, wallet: anyText, kind: fc.constantFrom(...LEDGER_KINDS), size: anyBigint },
    { outcome_index: fc.nat(63), price: anyPrice, fee: anyBigint, seq: anyBigint },
  ),
  one(
    'RESOLUTION',
    { ...OF_MARKET, status: fc.constantFrom('resolved', 'settled'), payouts: fc.array(anyPrice) },
    { disputed: fc.boolean() },
  ),
  one('SCORE', { ...SOURCED, label: anyText, game_id: anyText, content: anyJson }),
  one('TICK', {
    ...{ ...SOURCED, label: anyText, source: fc.constant('reference'), class: fc.constant('forex') },
    ...{ symbol: anyText, price: fc.constant('1.5'), content: anyJson },
  }),
  one('CURSOR', { source: anyText, cursor: anyText }),
) as fc.Arbitrary<JournalRecord>;

describe('records of the journal', () => {
  it('are read back as written, with every bigint', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const text = writeRecord(record);
        const read = readRecord(text);
        expect(read).toStrictEqual({ ...record });
        expect(writeRecord(read)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of trades have decimal strings for bigints', () => {
    const event: JournalRecord = {
      ...{ type: 'TRADE', provider: 'venue_a', market_id: 'm', source_id: 't', source_ts: 1, received_at: 2 },
      ...{ outcome_index: 0, price: 1, size: 12_345_678_901_234_567_890n, seq: 7n },
    };
    expect(JSON.parse(writeRecord(event))).toEqual({ ...event, size: '12345678901234567890', seq: '7' });
  });

  it.each([
    '{}',
    '[]',
    'null',
    '{"type":"BOOK"}',
    '{"type":"toString"}',
    '{"type":"CURSOR","source":"a"}',
    '{"type":"STATUS","provider":"venue_a","market_id":"m","source_id":"s","source_ts":"1","received_at":1,"status":"open"}',
  ])('in another format are refused: %s', (text) => {
    expect(() => readRecord(text)).toThrow('invalid record');
  });

  it('have the same content for any time of receipt and order of members', () => {
    fc.assert(
      fc.property(anyMarket, fc.maxSafeNat(), (event, received_at) => {
        const { outcomes, name, ...rest } = event;
        expect(contentOf({ outcomes, ...rest, name, received_at })).toBe(contentOf(event));
        expect(contentOf({ ...event, name: `${name}.` })).not.toBe(contentOf(event));
        expect(contentOf(event)).not.toContain('"received_at"');
      }),
    );
  });
});

describe('the state of a market', () => {
  it('is read back from its row as written', () => {
    fc.assert(
      fc.property(anyMarket, (event) => {
        const { source_id, source_ts, received_at, provider, market_id } = event;
        const at = { source_id, source_ts, received_at, provider, market_id };
        const payouts = event.outcomes.map(() => 0);
        const read = marketAfter(listedMarket(event), {
          ...at,
          type: 'RESOLUTION',
          status: 'resolved',
          payouts,
        });
        if (!read.ok) throw new Error(read.refusal);
        expect(readMarket(JSON.parse(writeMarket(read.state)))).toStrictEqual(read.state);
      }),
    );
  });

  it.each([null, 1, {}, { details: {} }, { details: null }])('in another format is refused: %j', (row) => {
    expect(() => readMarket(row)).toThrow('invalid record');
  });
});

it('a trade whose source gives no time is the same at any time of receipt, and has that time', () => {
  const at = (received_at: number): TradeEvent => ({
    ...{ type: 'TRADE', provider: 'venue_f', source_id: 't', source_ts: received_at, received_at },
    ...{ market_id: 'm', outcome_index: 0, price: 500_000, size: 1_000_000n },
  });
  expect(contentOf(at(7))).toBe(contentOf(at(8)));
  expect(contentOf({ ...at(7), source_ts: 6 })).not.toBe(contentOf(at(7)));
  const record = `{"received_at":7,${contentOf(at(7)).slice(1)}`;
  expect(readRecord(record)).toEqual(at(7));
});
