import { describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/edge/decoding/strict-json.js';
import { ONE } from '../../rules/micros.js';
import type { VenueMarket } from '../../rules/markets.js';
import type { OrderTerms } from '../../rules/order.js';
import type { VenueId } from '../../rules/venues.js';
import { BODY_RULES } from '../dialect.js';
import { RefusedCall } from '../refusals.js';
import { readSubmit, termsOf } from './submit-body.js';

const CENT = 10_000n;
const NOW = '2026-11-28T12:00:00.000000000Z';

const B_MARKET: VenueMarket = {
  ...{
    exchange_id: 'venue_b',
    market_id: 'RAIN-1',
    title: 'Rain',
    status: 'open',
    neg_risk: false,
    shard: 1,
  },
  outcomes: [
    { index: 0, outcome: 'Yes' },
    { index: 1, outcome: 'No' },
  ],
  ...{ tick_size: CENT, min_size: CENT, closes_at: '2027-01-01T00:00:00Z' },
};
const E_MARKET: VenueMarket = {
  ...{ exchange_id: 'venue_e', market_id: '7', title: 'Rain', status: 'open', neg_risk: false },
  outcomes: [
    { index: 0, outcome: 'Yes', token_id: '#70' },
    { index: 1, outcome: 'No', token_id: '#71' },
  ],
  ...{ tick_size: 100n, min_size: ONE, closes_at: '2027-01-01T00:00:00Z' },
};

const PLAIN: Readonly<Record<string, string>> = {
  ...{ exchange_id: '"venue_b"', market_id: '"RAIN-1"', side: '"buy"', kind: '"limit"' },
  ...{ quantity: '10', price: '0.4', outcome: '"Yes"' },
};

/** Fields are JSON text, so that numbers keep their spelling. An empty text leaves the field out. */
function termsFrom(
  changed: Readonly<Record<string, string>>,
  { venue = 'venue_b', is_key = false }: { venue?: VenueId; is_key?: boolean } = {},
): Omit<OrderTerms, 'order_id'> {
  const base = venue === 'venue_e' ? { ...PLAIN, market_id: '"7"' } : PLAIN;
  const fields = Object.entries({ ...base, ...changed }).filter(([, text]) => text !== '');
  const text = `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
  const parsed = parseJson(Buffer.from(text), BODY_RULES);
  if (!parsed.ok) throw new Error(`not JSON: ${text}`);
  const body = readSubmit(parsed.value, { venue, is_key, minimum: ONE });
  return termsOf(body, venue === 'venue_e' ? E_MARKET : B_MARKET, {
    ...{ user_id: 'u', channel: 'REST', newKey: () => 'fresh', now: NOW },
    ...(is_key ? { client_id: 'k' } : {}),
  });
}

/** The code and the field of the refusal. */
function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (!(error instanceof RefusedCall)) throw error;
    const { body } = error.reply;
    return (
      /"code":"([A-Z_]+)","details":\{"field":"([^"]+)"/
        .exec(JSON.stringify(body))
        ?.slice(1)
        .join(' ')
        .replace('VALIDATION_', '') ?? JSON.stringify(body)
    );
  }
  return 'accepted';
}

type Row = readonly [fields: Readonly<Record<string, string>>, refusal: string];

const REFUSED: readonly Row[] = [
  [{ sied: '1' }, 'UNKNOWN_FIELD sied'],
  [{ market_id: '' }, 'INVALID_ORDER market_id'],
  [{ market_id: 'null' }, 'INVALID_ORDER market_id'],
  [{ side: '"hold"' }, 'INVALID_ORDER side'],
  [{ kind: '"stop"' }, 'INVALID_ORDER kind'],
  [{ kind: '' }, 'INVALID_ORDER kind'],
  [{ quantity: '' }, 'INVALID_QUANTITY quantity'],
  [{ quantity: '"10"' }, 'INVALID_QUANTITY quantity'],
  [{ quantity: '0' }, 'INVALID_QUANTITY quantity'],
  [{ quantity: '-1' }, 'INVALID_QUANTITY quantity'],
  [{ quantity: '0.99' }, 'INVALID_QUANTITY quantity'],
  [{ quantity: '1.0000001' }, 'INVALID_QUANTITY quantity'],
  [{ quantity: '100000.01' }, 'INVALID_QUANTITY quantity'],
  [{ side: '"sell"', quantity: '0.009' }, 'INVALID_QUANTITY quantity'],
  [{ price: '' }, 'INVALID_PRICE price'],
  [{ price: '0' }, 'INVALID_PRICE price'],
  [{ price: '1.01' }, 'INVALID_PRICE price'],
  [{ price: '0.4000001' }, 'INVALID_PRICE price'],
  [{ price: '0.405' }, 'INVALID_PRICE price'],
  [{ outcome: '' }, 'INVALID_ORDER outcome'],
  [{ outcome: '"YES"' }, 'INVALID_ORDER outcome'],
  [{ token_id: '"1"' }, 'INVALID_TOKEN token_id'],
  [{ time_in_force: '"DAY"' }, 'INVALID_TIF time_in_force'],
  [{ time_in_force: '"GTD"' }, 'INVALID_TIF time_in_force'],
  [{ expiration_minutes: '5' }, 'INVALID_TIF time_in_force'],
  [{ expiration_minutes: '0', time_in_force: '"GTD"' }, 'INVALID_ORDER expiration_minutes'],
  [{ expiration_minutes: '5', time_in_force: '"GTD"', kind: '"market"' }, 'INVALID_TIF time_in_force'],
  [{ post_only: '1' }, 'INVALID_ORDER post_only'],
  [{ post_only: 'true', time_in_force: '"IOC"' }, 'POST_ONLY_UNSUPPORTED post_only'],
  [{ post_only: 'true', kind: '"market"' }, 'POST_ONLY_UNSUPPORTED post_only'],
  [{ client_order_id: '"a b"' }, 'INVALID_ORDER client_order_id'],
  [{ client_order_id: '""' }, 'INVALID_ORDER client_order_id'],
  [{ trigger_price: '0.5' }, 'TRIGGER_UNSUPPORTED trigger_price'],
  [{ trigger_price: '2' }, 'INVALID_PRICE trigger_price'],
  [{ max_slippage_cents: '100' }, 'INVALID_ORDER max_slippage_cents'],
  [{ max_slippage: '0.51' }, 'INVALID_ORDER max_slippage'],
  [{ max_slippage: '0.1', max_slippage_cents: '1' }, 'INVALID_ORDER max_slippage'],
  [{ max_retries: '21' }, 'INVALID_ORDER max_retries'],
  [{ max_retries: '1.5' }, 'INVALID_ORDER max_retries'],
  [{ collateral: '"SKIP"' }, 'INVALID_COLLATERAL collateral'],
  [{ collateral: '"check"' }, 'INVALID_COLLATERAL collateral'],
  [{ max_bridge_fee_usdc: '1' }, 'FUNDING_CAP_UNEXPECTED max_bridge_fee_usdc'],
  [{ max_funding_wait_ms: '1', collateral: '"check"' }, 'FUNDING_CAP_UNEXPECTED max_funding_wait_ms'],
  [{ collateral: '"fund"' }, 'FUNDING_CAP_REQUIRED max_bridge_fee_usdc'],
  [{ collateral: '"fund"', max_bridge_fee_usdc: '1' }, 'FUNDING_CAP_REQUIRED max_funding_wait_ms'],
  [
    { collateral: '"fund"', max_bridge_fee_usdc: '"1e1"', max_funding_wait_ms: '1' },
    'INVALID_COLLATERAL max_bridge_fee_usdc',
  ],
  [
    { collateral: '"fund"', max_bridge_fee_usdc: '10000000000', max_funding_wait_ms: '1' },
    'INVALID_COLLATERAL max_bridge_fee_usdc',
  ],
  [
    { collateral: '"fund"', max_bridge_fee_usdc: '1e1', max_funding_wait_ms: '600001' },
    'INVALID_COLLATERAL max_funding_wait_ms',
  ],
  [
    { collateral: '"fund"', max_bridge_fee_usdc: '"0.00000001"', max_funding_wait_ms: '1' },
    'INVALID_COLLATERAL collateral',
  ],
  [{ shard_funding: '"yes"' }, 'INVALID_ORDER shard_funding'],
  [{ bot_id: '""' }, 'INVALID_ORDER bot_id'],
  [{ source: '"fix"' }, 'INVALID_ORDER source'],
  [{ gas_sponsored: '1' }, 'INVALID_ORDER gas_sponsored'],
  [{ orderbook_levels: '1' }, 'INVALID_ORDER orderbook_levels'],
  [{ not_after: '"tomorrow"' }, 'INVALID_ORDER not_after'],
];

describe('a body with a wrong field', () => {
  it.each(REFUSED)('%j is refused with %s', (fields, refusal) => {
    expect(refusalOf(() => termsFrom(fields))).toBe(refusal);
  });
});

describe('the terms of an order depend on values, not on their spelling', () => {
  it.each([
    [{ quantity: '1e1' }, { quantity: 10n * ONE }],
    [{ quantity: '10.000' }, { quantity: 10n * ONE }],
    [{ quantity: '10.5555' }, { quantity: 10_555_500n }],
    [
      { side: '"SELL"', quantity: '0.019' },
      { side: 'sell', quantity: CENT },
    ],
    [{ price: '1.0' }, { price: ONE, bound: ONE }],
    [{ time_in_force: '"fok"' }, { time_in_force: 'FOK' }],
    [{ time_in_force: '""' }, { time_in_force: 'GTC' }],
    [{ bot_id: '"b"' }, { bot_id: 'b', source: 'bot' }],
    [{ bot_id: '"b"', source: '"copytrade"' }, { source: 'copytrade' }],
    [{ kind: '"market"', price: '0.4' }, { bound: 45n * CENT }],
    [{ kind: '"market"', price: '0.4', max_slippage_cents: '2' }, { bound: 42n * CENT }],
    [{ kind: '"market"', price: '0.99' }, { bound: ONE }],
    [{ time_in_force: '"GTD"', expiration_minutes: '5' }, { expires_at: '2026-11-28T12:05:00.000000000Z' }],
    [{ post_only: 'null', token_id: 'null' }, { post_only: false }],
  ])('%j', (fields, expected) => {
    expect(termsFrom(fields)).toMatchObject(expected);
  });

  it('the content is equal for equal orders, and ignores fields that do not count', () => {
    const { content } = termsFrom({ client_order_id: '"a"' });
    const same = { quantity: '10.0', side: '"BUY"', user_id: '"x"', source: '"bot"', gas_sponsored: 'true' };
    expect(termsFrom({ ...same, not_after: '"2030-01-01T00:00:00Z"', orderbook_levels: '[]' }).content).toBe(
      content,
    );
    for (const other of [{ quantity: '11' }, { price: '0.41' }, { outcome: '"No"' }, { max_retries: '1' }]) {
      expect(termsFrom(other).content).not.toBe(content);
    }
  });
});

describe('an API key', () => {
  it('must buy for at least five dollars, and may sell any amount', () => {
    expect(refusalOf(() => termsFrom({ quantity: '12.49' }, { is_key: true }))).toBe(
      'INVALID_ORDER quantity',
    );
    expect(termsFrom({ quantity: '12.5' }, { is_key: true })).toMatchObject({
      source: 'api',
      client_id: 'k',
    });
    expect(termsFrom({ quantity: '1', side: '"sell"' }, { is_key: true })).toMatchObject({ side: 'sell' });
    expect(termsFrom({ quantity: '1' })).toMatchObject({ source: 'manual' });
  });
});

describe('venue e', () => {
  const e = { venue: 'venue_e' } as const;
  it.each([
    [{ outcome: '"No"' }, 'INVALID_TOKEN token_id'],
    [{ outcome: '"Yes"', token_id: '"#71"' }, 'INVALID_TOKEN token_id'],
    [{ outcome: '"Yes"', token_id: '"#90"' }, 'INVALID_TOKEN token_id'],
    [{ outcome: '"Yes"', market_id: '"#71"' }, 'INVALID_TOKEN token_id'],
    [{ outcome: '"Yes"', quantity: '0.5', side: '"sell"' }, 'INVALID_QUANTITY quantity'],
  ])('%j is refused with %s', (fields, refusal) => {
    expect(refusalOf(() => termsFrom(fields, e))).toBe(refusal);
  });

  it.each([
    [
      { outcome: '"No"', token_id: '"#71"' },
      { outcome_index: 1, token_id: '#71', market_id: '7' },
    ],
    [
      { outcome: '"No"', market_id: '"#71"' },
      { outcome_index: 1, token_id: '#71', market_id: '7' },
    ],
    [{ quantity: '10.9' }, { outcome_index: 0, token_id: '#70', quantity: 10n * ONE }],
  ])('%j', (fields, expected) => {
    expect(termsFrom(fields, e)).toMatchObject(expected);
  });
});
