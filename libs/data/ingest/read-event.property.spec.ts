import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalText } from '../rules/scales.js';
import { isoTime } from '../rules/times.js';
import { LONGEST_LINE, readEvent, type LineRead } from './read-event.js';

const NOW = 1_795_176_000_000_000;
const TS = '2026-11-20T11:00:00.5Z';
const AT = NOW - 3_600_000_000 + 500_000;
const ENVELOPE = { provider: 'venue_a', source_id: 's1', source_ts: TS };
const READ = { provider: 'venue_a', source_id: 's1', source_ts: AT, received_at: NOW };

function read(line: unknown): LineRead {
  return readEvent(Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)), NOW);
}

function eventOf(line: unknown): unknown {
  const result = read(line);
  return result.ok ? result.event : result.reason;
}

const TRADE = { type: 'TRADE', ...ENVELOPE, market_id: 'm', outcome_index: 0, price: '0.5', size: '1' };
const MARKET = {
  type: 'MARKET',
  ...ENVELOPE,
  market_id: 'm',
  name: 'Rain?',
  outcomes: [{ label: 'Yes' }, { label: 'No' }],
};
const BOOK = {
  ...{ type: 'BOOK', ...ENVELOPE, market_id: 'm', outcome_index: 0, sequence: 1, snapshot: true },
  ...{ bids: [['0.4', 2]], asks: [] },
};
const LEDGER = {
  ...{ type: 'LEDGER', ...ENVELOPE, market_id: 'm', wallet: 'w', kind: 'BUY', outcome_index: 1 },
  ...{ price: '0.1', size: 5 },
};
const RESOLUTION = { type: 'RESOLUTION', ...ENVELOPE, market_id: 'm', status: 'resolved', payouts: ['1', 0] };
const SCORE = {
  ...{ type: 'SCORE', ...ENVELOPE, provider: 'scores', game_id: 'g', league: 'nba', status: 'live' },
  ...{ home: { name: 'H' }, away: { name: 'A', logo: 'x' }, start_time: TS, home_score: 3 },
};
const TICK = {
  ...{ type: 'TICK', ...ENVELOPE, provider: 'feeds', source: 'exchange_spot', class: 'crypto' },
  ...{ symbol: 'BTC', price: '95000.10' },
};

describe('a line of the recorded source', () => {
  it('of each type becomes its event', () => {
    expect(eventOf(MARKET)).toEqual({ ...MARKET, ...READ });
    expect(eventOf({ ...MARKET, type: 'STATUS', status: 'closed' })).toEqual({
      ...{ type: 'STATUS', ...READ, market_id: 'm', status: 'closed' },
    });
    expect(eventOf(TRADE)).toEqual({ ...TRADE, ...READ, price: 500_000, size: 1_000_000n });
    expect(eventOf({ type: 'TRADE_BUST', ...ENVELOPE, trade_source_id: 't' })).toEqual({
      ...{ type: 'TRADE_BUST', ...READ, trade_source_id: 't' },
    });
    expect(eventOf(BOOK)).toEqual({
      ...{ ...BOOK, ...READ, sequence: 1n, bids: [{ price: 400_000, size: 2_000_000n }] },
    });
    expect(eventOf(LEDGER)).toEqual({ ...LEDGER, ...READ, price: 100_000, size: 5_000_000n });
    expect(eventOf(RESOLUTION)).toEqual({ ...RESOLUTION, ...READ, payouts: [1_000_000, 0] });
  });

  it('of games and ticks keeps its label and all other fields', () => {
    const { home, away, league, status, home_score } = SCORE;
    expect(eventOf(SCORE)).toEqual({
      ...{ type: 'SCORE', label: 'scores', source_id: 's1', source_ts: AT, received_at: NOW, game_id: 'g' },
      content: { home, away, league, status, home_score, start_time: TS },
    });
    const perpetual = { index: 1.5, funding_rate: '-0.00001250', next_funding_at: TS, open_interest: '10' };
    const kept = { index: '1.5', funding_rate: '-0.00001250', next_funding_at: TS, open_interest: '10' };
    expect(eventOf({ ...TICK, class: 'perpetual', price: -37.63, ...perpetual })).toEqual({
      ...{ type: 'TICK', label: 'feeds', source_id: 's1', source_ts: AT, received_at: NOW },
      ...{ source: 'exchange_spot', class: 'perpetual', symbol: 'BTC', price: '-37.63', content: kept },
    });
    expect(eventOf({ ...TICK, class: 'perpetual' })).toBe('missing_field');
  });

  it('reads every decimal exactly, as a string and as a number, however large', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }),
        fc.boolean(),
        (price, size, isText) => {
          const quote = isText ? '"' : '';
          const spelt = JSON.stringify({ ...TRADE, price: '@', size: '#' })
            .replace('"@"', quote + decimalText(BigInt(price)) + quote)
            .replace('"#"', quote + decimalText(size) + quote);
          expect(eventOf(spelt)).toMatchObject({ price, size });
        },
      ),
    );
  });

  it('reads every time exactly, in any zone, but not without a zone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000_000 }), (micros) => {
        expect(eventOf({ ...TRADE, source_ts: isoTime(micros) })).toMatchObject({ source_ts: micros });
        expect(eventOf({ ...TRADE, source_ts: isoTime(micros).slice(0, -1) })).toBe('bad_value');
      }),
    );
    expect(eventOf({ ...TRADE, source_ts: '2026-11-20T12:00:00.5+01:00' })).toMatchObject({ source_ts: AT });
  });

  it('of a trade without a time gets the time of receipt', () => {
    expect(eventOf({ ...TRADE, source_ts: undefined })).toMatchObject({ source_ts: NOW, received_at: NOW });
    expect(eventOf({ ...TRADE, source_ts: null })).toMatchObject({ source_ts: NOW });
    expect(eventOf({ ...BOOK, source_ts: undefined })).toBe('missing_field');
  });

  it('accepts null for optional fields and ignores unknown ones', () => {
    const event = eventOf({
      ...TRADE,
      side: null,
      maker: '0xABCDEF0123456789abcdef0123456789ABCDEF01',
      odd: {},
    });
    expect(event).toEqual({
      ...{ ...TRADE, ...READ, price: 500_000, size: 1_000_000n },
      maker: '0xabcdef0123456789abcdef0123456789abcdef01',
    });
    expect(eventOf({ ...TRADE, provider: ' Venue_F ', taker: 'AbC' })).toMatchObject({
      provider: 'venue_f',
      taker: 'AbC',
    });
  });

  it('of a market has its whole state', () => {
    const fields = {
      ...{
        condition_id: '0xc',
        event_id: 'e',
        event_name: 'E',
        event_url: 'u',
        series_key: 'k',
        series_title: 'T',
      },
      ...{ ticker: 'RAIN', slug: 'rain', description: '', category: 'science', subcategory: 'weather' },
      ...{ tags: [{ id: '1', name: 'rain' }], status: 'closed', image: 'i', icon: 'j', banner: 'b' },
      ...{ external_url: 'x', ctf_neg_risk: false, raw: { a: [1.5, null, { b: 'c' }] }, extra: {} },
      ...{ crypto: { symbol: 'BTC' }, sports: { league: 'nba' }, combo: {}, terms: { numbers: [95000] } },
    };
    const times = { listed_at: TS, expires_at: TS, settlement_ts: TS };
    const contract = {
      tick_size: 0.01,
      min_price: '0.01',
      max_price: '0.99',
      lot_size: 1,
      quote_currency: 'USD',
    };
    const bands = [{ start: 0, end: '0.1', step: 0.001 }];
    const line = {
      ...{ ...MARKET, ...fields, ...times, contract: { ...contract, bands } },
      resolution_rules: { primary: 'p', secondary: null },
    };
    expect(eventOf(line)).toEqual({
      ...{ ...MARKET, ...READ, ...fields, listed_at: AT, expires_at: AT, settlement_ts: AT },
      contract: {
        ...{
          tick_size: 10_000,
          min_price: 10_000,
          max_price: 990_000,
          lot_size: 1_000_000n,
          quote_currency: 'USD',
        },
        bands: [{ start: 0, end: 100_000, step: 1_000 }],
      },
      resolution_rules: { primary: 'p', secondary: null, source: null },
    });
  });
});

describe('a line is refused', () => {
  const LONG = 'x'.repeat(129);
  it.each<[reason: string, line: unknown]>([
    ['not_json', ''],
    ['not_json', 'null'],
    ['not_json', '[{}]'],
    ['not_json', '{"type":"TRADE"'],
    ['not_json', `${JSON.stringify(TRADE)} {}`],
    ['not_json', '{"type":"TRADE","type":"TRADE"}'],
    ['not_json', '{"type":"TRADE","price":NaN}'],
    ['not_json', `{"type":"TRADE","a":${'['.repeat(65)}${']'.repeat(65)}}`],
    ['missing_field', {}],
    ['missing_field', { type: null }],
    ['unknown_type', { type: 'FUNDING' }],
    ['unknown_type', { type: 'trade' }],
    ['unknown_type', { type: 'toString' }],
    ['unknown_type', { type: 5 }],
    ['missing_field', { ...TRADE, price: undefined }],
    ['missing_field', { ...TRADE, size: null }],
    ['missing_field', { ...MARKET, outcomes: [{ label: 'Yes' }, {}] }],
    ['missing_field', { ...LEDGER, price: undefined }],
    ['missing_field', { ...LEDGER, kind: 'TRANSFER_IN', outcome_index: undefined }],
    ['bad_value', { ...TRADE, provider: 'venue_g' }],
    ['bad_value', { ...TRADE, source_id: '' }],
    ['bad_value', { ...TRADE, source_id: LONG }],
    ['bad_value', { ...TRADE, market_id: 5 }],
    ['bad_value', { ...TRADE, market_id: 'a\0b' }],
    ['bad_value', { ...TRADE, price: '1.000001' }],
    ['bad_value', { ...TRADE, price: -0.1 }],
    ['bad_value', { ...TRADE, price: '0.1234567' }],
    ['bad_value', { ...TRADE, price: '1e-2' }],
    ['bad_value', JSON.stringify(TRADE).replace('"0.5"', '5e-1')],
    ['bad_value', { ...TRADE, size: 0 }],
    ['bad_value', { ...TRADE, size: '1234567890123' }],
    ['bad_value', { ...TRADE, size: '+1' }],
    ['bad_value', { ...TRADE, side: 'BUY' }],
    ['bad_value', { ...TRADE, outcome_index: 64 }],
    ['bad_value', { ...TRADE, outcome_index: '0' }],
    ['bad_value', { ...TRADE, seq: -1 }],
    ['bad_value', { ...TRADE, seq: '9223372036854775808' }],
    ['bad_value', { ...TRADE, source_ts: 1_795_176_000 }],
    ['bad_value', { ...TRADE, source_ts: '2026-11-20T12:00:00.1234567Z' }],
    ['bad_value', { ...MARKET, outcomes: [{ label: 'Yes' }] }],
    ['bad_value', { ...MARKET, outcomes: Array.from({ length: 65 }, (_, at) => ({ label: String(at) })) }],
    ['bad_value', { ...MARKET, outcomes: [{ label: 'Yes' }, { label: 'Yes' }] }],
    [
      'bad_value',
      {
        ...MARKET,
        outcomes: [
          { label: 'Yes', token_id: '1' },
          { label: 'No', token_id: '1' },
        ],
      },
    ],
    ['bad_value', { ...MARKET, status: 'halted' }],
    ['bad_value', { ...MARKET, raw: [] }],
    ['bad_value', { ...MARKET, raw: { a: { 'b\0': 1 } } }],
    ['bad_value', JSON.stringify({ ...MARKET, raw: { a: '@' } }).replace('"@"', '1e999')],
    ['bad_value', { ...BOOK, provider: 'venue_b', outcome_index: 1 }],
    ['bad_value', { ...BOOK, bids: [['0.4', '-1']] }],
    ['bad_value', { ...BOOK, bids: [['0.4']] }],
    ['bad_value', { ...BOOK, snapshot: 1 }],
    ['bad_value', { ...RESOLUTION, payouts: [1, 1] }],
    ['bad_value', { ...RESOLUTION, payouts: [1] }],
    ['bad_value', { ...RESOLUTION, status: 'active' }],
    ['bad_value', { ...SCORE, home: 'H' }],
    ['bad_value', { ...SCORE, status: 'halftime' }],
    ['bad_value', { ...TICK, price: '1e5' }],
    ['bad_value', { ...TICK, class: 'bond' }],
  ])('as %s: %j', (reason, line) => {
    expect(read(line)).toEqual({ ok: false, reason });
  });

  it('if it is not UTF-8', () => {
    expect(readEvent(Buffer.from([0x7b, 0xff, 0x7d]), NOW)).toEqual({ ok: false, reason: 'not_json' });
  });

  it('above 1 MiB, whatever its content', () => {
    const padded = (length: number): string => JSON.stringify(TRADE).padEnd(length, ' ');
    expect(read(padded(LONGEST_LINE)).ok).toBe(true);
    expect(read(padded(LONGEST_LINE + 1))).toEqual({ ok: false, reason: 'too_long' });
  });

  it('with a reason for any content: nothing throws', () => {
    const lines = [TRADE, MARKET, BOOK, LEDGER, RESOLUTION, SCORE, TICK];
    fc.assert(
      fc.property(fc.constantFrom<object>(...lines), fc.nat(), fc.jsonValue(), (line, at, value) => {
        const names = Object.keys(line);
        const result = read({ ...line, [names[at % names.length]!]: value });
        if (!result.ok) expect(['unknown_type', 'missing_field', 'bad_value']).toContain(result.reason);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('splits and merges concern all outcomes, and only bought or sold entries have a price', () => {
  expect(eventOf({ ...LEDGER, kind: 'SPLIT' })).not.toHaveProperty('outcome_index');
  expect(eventOf({ ...LEDGER, kind: 'REDEEM' })).not.toHaveProperty('price');
  expect(
    eventOf({ ...LEDGER, kind: 'MERGE', outcome_index: undefined, price: undefined, fee: '-0.5' }),
  ).toMatchObject({
    fee: -500_000n,
  });
});
