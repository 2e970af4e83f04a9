import { expect, it } from '@jest/globals';
import { configOf } from './provider-config.js';
import { providerOf, providerOfNumber, PROVIDERS, REGISTERED } from './providers.js';

const NO_TYPES: string[] = [];
const USUAL = {
  ...{ chain: '', more: NO_TYPES, token: 'opaque', walks: true, approves: true, multi: true },
  ...{ auth: 'wallet_signature', key: 'marketId' },
};
const TYPES = ['limit', 'market'];

it.each([
  {
    ...USUAL,
    id: 'venue_a',
    numeric: 2,
    chain: '137',
    more: ['fok'],
    token: 'clob_uint256',
    key: 'conditionId',
  },
  { ...USUAL, id: 'venue_b', numeric: 1, approves: false, multi: false, auth: 'api_key' },
  { ...USUAL, id: 'venue_c', numeric: 8, chain: '56', more: ['fok'], token: 'clob_uint256' },
  { ...USUAL, id: 'venue_d', numeric: 3, chain: '56', walks: false },
  { ...USUAL, id: 'venue_e', numeric: 9, approves: false },
])('the configuration of $id', ({ id, numeric, chain, more, token, ...row }) => {
  const provider = providerOf(id)!;
  expect(configOf(provider, true)).toEqual({
    ...{
      id,
      display_name: `Venue ${id.slice(-1).toUpperCase()}`,
      icon_url: '',
      chain_name: '',
      chain_id: chain,
    },
    ...{ is_active: true, supported_order_types: [...TYPES, ...more], supports_walk_the_book: row.walks },
    ...{
      supports_token_approval: row.approves,
      has_multi_token_markets: row.multi,
      auth_flow_type: row.auth,
    },
    ...{ token_id_format: token, metadata_key_type: row.key, numeric_id: numeric },
    ...{ primary_color: null, created_at: null, updated_at: null },
  });
  expect(configOf(provider, false).is_active).toBe(false);
  expect(providerOfNumber(numeric)).toBe(id);
});

it('lists are in order of id and leave out venue_f, which is still a provider', () => {
  expect(REGISTERED).toEqual(['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e']);
  expect(PROVIDERS.map((provider) => providerOf(` ${provider.toUpperCase()}\t`))).toEqual([...PROVIDERS]);
  expect([providerOf(''), providerOf('venue_g'), providerOf('venue a'), providerOfNumber(0)]).toEqual(
    Array(4).fill(undefined),
  );
});
