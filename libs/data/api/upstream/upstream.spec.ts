import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import {
  answers,
  MISBEHAVIOURS,
  openPlayedVenue,
  type PlayedVenue,
} from '#libs/testing/data/played-venue.js';
import { Upstreams } from './upstream.js';

const TIMEOUT_MILLIS = 5_000;
/** Of venues that are to be late. */
const SHORT_MILLIS = 200;
const FAILED = { ok: false, fault: 'failed' };

let venue: PlayedVenue;
let upstreams: Upstreams;

beforeEach(async () => {
  venue = await openPlayedVenue();
  upstreams = patientFor(TIMEOUT_MILLIS);
});
afterEach(async () => {
  upstreams.close();
  await venue.close();
});

function patientFor(millis: number): Upstreams {
  return new Upstreams({ venue_a: `${venue.url}/deep/`, venue_b: venue.url }, millis, new SystemClock());
}

function upstream(provider: 'venue_a' | 'venue_b') {
  const found = upstreams.of(provider);
  if (found === undefined) throw new Error(`${provider} has no address`);
  return found;
}

it('appends the path to the base URL, for any id', async () => {
  await upstream('venue_a').market('a/b?c=d#e%41 ü');
  await upstream('venue_a').tradesOfA(['0x1', '0x2&limit=9'], 500);
  await upstream('venue_b').tradesOfB({ ticker: 'RAIN-1', limit: 1, cursor: 'a b=' });
  await upstream('venue_b').tradesOfB({ ticker: 'RAIN-1', limit: 1 });
  expect(venue.asked).toEqual([
    '/deep/markets/a%2Fb%3Fc%3Dd%23e%2541%20%C3%BC',
    '/deep/trades?market=0x1%2C0x2%26limit%3D9&limit=500',
    '/markets/trades?ticker=RAIN-1&limit=1&cursor=a+b%3D',
    '/markets/trades?ticker=RAIN-1&limit=1',
  ]);
});

it.each(['.', '..', '\ud800'])('does not request an id that would be another path: %j', async (id) => {
  expect(await upstream('venue_a').market(id)).toEqual({ ok: false, fault: 'not-found' });
  expect(venue.asked).toEqual([]);
});

it('a venue without a URL cannot be read', () => {
  expect(upstreams.of('venue_c')).toBeUndefined();
});

it.each(Object.entries(MISBEHAVIOURS))('a venue that %s counts as failed', async (_name, manner) => {
  upstreams.close();
  upstreams = patientFor(SHORT_MILLIS);
  venue.behave(manner);
  expect(await upstream('venue_a').tradesOfA(['0x1'], 100)).toEqual(FAILED);
  expect(await upstream('venue_b').tradesOfB({ ticker: 'RAIN', limit: 100 })).toEqual(FAILED);
  expect(await upstream('venue_a').market('RAIN')).toEqual(FAILED);
  upstreams.close();
  upstreams = patientFor(TIMEOUT_MILLIS);
  venue.behave(answers([]));
  expect(await upstream('venue_a').tradesOfA(['0x1'], 100)).toEqual({
    ok: true,
    value: { trades: [], cursor: null },
  });
});

it('a refused connection counts as failed', async () => {
  await venue.close();
  expect(await upstream('venue_a').market('RAIN')).toEqual(FAILED);
});

it.each([
  [404, 'not-found'],
  [429, 'rate-limited'],
  [400, 'failed'],
])('%s is %s', async (status, fault) => {
  venue.behave(answers({}, status));
  expect(await upstream('venue_a').market('RAIN')).toEqual({ ok: false, fault });
});

it('a connection that the venue closed while idle is no failure of the venue', async () => {
  let served = 0;
  venue.behave((request, response) => {
    served += 1;
    if (served === 2) request.socket.destroy();
    else answers([])(request, response);
  });
  await upstream('venue_a').tradesOfA(['0x1'], 1);
  expect((await upstream('venue_a').tradesOfA(['0x1'], 1)).ok).toBe(true);
  expect(served).toBe(3);
});

const TRADE_OF_A = {
  ...{ proxyWallet: '0xw', side: 'BUY', asset: '77', conditionId: '0x1', size: 12.5, price: 0.42 },
  ...{ timestamp: 1_790_000_000, outcome: 'No', outcomeIndex: 1, transactionHash: '0xt', extra: [1] },
};

const TRADE_OF_B = {
  ...{ trade_id: 't', ticker: 'RAIN', price: '0.07', count: 3, taker_side: 'no' },
  created_time: '2026-09-21T14:13:20.25Z',
};

it('trades of venue_a are counted unchanged', async () => {
  venue.behave(answers([TRADE_OF_A]));
  expect(await upstream('venue_a').tradesOfA(['0x1'], 1)).toEqual({
    ok: true,
    value: {
      trades: [
        {
          ...{ raw: TRADE_OF_A, ts: 1_790_000_000_000_000, outcome_index: 1 },
          ...{ price: 420_000, size: 12_500_000n },
        },
      ],
      cursor: null,
    },
  });
});

it('trades of venue_b are counted on the side of the taker', async () => {
  const yes = { ...TRADE_OF_B, taker_side: 'yes' };
  venue.behave(answers({ trades: [TRADE_OF_B, yes], cursor: 'next' }));
  const ts = Date.parse(TRADE_OF_B.created_time) * 1_000;
  expect(await upstream('venue_b').tradesOfB({ ticker: 'RAIN', limit: 1 })).toEqual({
    ok: true,
    value: {
      trades: [
        { raw: TRADE_OF_B, ts, outcome_index: 1, price: 930_000, size: 3_000_000n },
        { raw: yes, ts, outcome_index: 0, price: 70_000, size: 3_000_000n },
      ],
      cursor: 'next',
    },
  });
});

it.each([[{ cursor: '' }], [{ cursor: null }], [{}]])('%j is the last page', async (end) => {
  venue.behave(answers({ trades: [], ...end }));
  const read = await upstream('venue_b').tradesOfB({ ticker: 'RAIN', limit: 1 });
  expect(read).toEqual({ ok: true, value: { trades: [], cursor: null } });
});

it.each([
  { price: 1.01 },
  { price: -0.1 },
  { price: null },
  { price: '0,5' },
  { size: 'many' },
  { size: -1 },
  { size: 1e15 },
  { timestamp: 1_790_000_000_000 },
  { timestamp: '2026-01-01T00:00:00Z' },
  { outcomeIndex: 0.5 },
  { outcomeIndex: -1 },
  { outcomeIndex: undefined },
])('a body is refused as a whole if a trade of venue_a has %j', async (wrong) => {
  venue.behave(answers([TRADE_OF_A, { ...TRADE_OF_A, ...wrong }]));
  expect(await upstream('venue_a').tradesOfA(['0x1'], 1)).toEqual(FAILED);
});

it('a venue renamed its price fields, and bots saw prices of zero (kalshi-ai-trading-bot issue 41): the body counts as failed', async () => {
  const { price, ...renamed } = TRADE_OF_B;
  venue.behave(answers({ trades: [{ ...renamed, yes_price_dollars: price }], cursor: '' }));
  expect(await upstream('venue_b').tradesOfB({ ticker: 'RAIN', limit: 1 })).toEqual(FAILED);
});

it.each([
  { taker_side: 'YES' },
  { taker_side: undefined },
  { count: undefined },
  { created_time: 1_790_000_000 },
  { price: 7 },
])('a body is refused as a whole if a trade of venue_b has %j', async (wrong) => {
  venue.behave(answers({ trades: [{ ...TRADE_OF_B, ...wrong }], cursor: '' }));
  expect(await upstream('venue_b').tradesOfB({ ticker: 'RAIN', limit: 1 })).toEqual(FAILED);
});

const MARKET = {
  ...{ id: 'RAIN', title: 'Rain?', description: 'd', rules_primary: 'p', rules_secondary: 's' },
  ...{ rules_source: 'r', tick_size: 0.01, min_price: '0.01', max_price: 0.99, lot_size: 0.5 },
  ...{ quote_currency: 'USD', expires_at: '2027-01-01T00:00:00Z', icon: 'i', banner: 'b', url: 'u' },
  ...{ active: true, outcomes: [{ label: 'Yes', token_id: '1', price: 0.123456789 }, { label: 'No' }] },
  ...{ event_id: 'e', event_name: 'n' },
};

it('markets are read in our scales, with null for missing values', async () => {
  venue.behave(answers({ market: MARKET }));
  expect(await upstream('venue_a').market('RAIN')).toEqual({
    ok: true,
    value: {
      ...MARKET,
      ...{ tick_size: 10_000, min_price: 10_000, max_price: 990_000, lot_size: 500_000n },
      expires_at: Date.parse(MARKET.expires_at) * 1_000,
      outcomes: [
        { label: 'Yes', token_id: '1', price: 123_457 },
        { label: 'No', token_id: null, price: null },
      ],
    },
  });
  venue.behave(answers({ market: { id: 'RAIN', tick_size: null } }));
  const bare = await upstream('venue_a').market('RAIN');
  expect(bare).toMatchObject({ ok: true, value: { id: 'RAIN', title: null, tick_size: null, outcomes: [] } });
});

it.each([
  [{}],
  [{ market: null }],
  [{ market: [] }],
  [{ market: { title: 1 } }],
  [{ market: { outcomes: {} } }],
])('%j is not a market', async (body) => {
  venue.behave(answers(body));
  expect(await upstream('venue_a').market('RAIN')).toEqual(FAILED);
});
