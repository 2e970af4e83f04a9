import { expect, it } from '@jest/globals';
import { CAPABILITIES, VENUE_IDS, type Capabilities } from './venues.js';

const YES_OR_NO = [
  ...['supports_post_only', 'requires_allowances', 'supports_redemption', 'has_outcome_tokens'],
  ...['supports_user_websocket', 'supports_cancel_all', 'supports_batch_orders', 'autonomous_settlement'],
  ...['settlement_deferred_fill', 'ws_fill_authoritative', 'ws_fills_include_exchange_fee'],
  'supports_native_amend',
] as const satisfies readonly (keyof Capabilities)[];

/** What the interface promises for each venue, in the order of the names above. */
const PROMISED: Readonly<Record<string, string>> = {
  venue_a: 'yyyyyyynnynn',
  venue_b: 'ynnnyynnnnyy',
  venue_c: 'yyyynnnnyynn',
  venue_d: 'nnnynnnnnnnn',
  venue_e: 'ynnynnnynnnn',
};

it.each(VENUE_IDS)('%s supports what the interface promises', (venue) => {
  const supported = YES_OR_NO.map((name) => (CAPABILITIES[venue][name] ? 'y' : 'n')).join('');
  expect(supported).toBe(PROMISED[venue]);
});

it.each([
  ['venue_a', '0.01', null, 'maker_rebate', 200, '137', 'USDC', 2],
  ['venue_b', '0.01', '100000', 'tiered_schedule', null, null, 'USD', 2],
  ['venue_c', '0.001', null, 'zero_fee', 0, '56', 'USDT', null],
  ['venue_d', '0.01', null, 'zero_fee', 0, '56', 'USDC', null],
  ['venue_e', '0.0001', null, 'zero_fee', 0, null, 'USDC', null],
] as const)('%s has the grid, fees and currency of the interface', (venue, ...values) => {
  const { min_tick_size, max_order_size, fee_model, taker_fee_bps, chain_id, settlement_currency, ...rest } =
    CAPABILITIES[venue];
  const { sell_quantity_decimals: decimals } = rest;
  const grid = [min_tick_size, max_order_size, fee_model, taker_fee_bps, chain_id];
  expect([...grid, settlement_currency, decimals]).toEqual(values);
});
