/** The venues and what each supports. These are constants of the interface and do not say whether a venue is active now. */
export const VENUE_IDS = ['venue_a', 'venue_b', 'venue_c', 'venue_d', 'venue_e'] as const;
export type VenueId = (typeof VENUE_IDS)[number];
export type TimeInForce = 'GTC' | 'GTD' | 'FOK' | 'FAK' | 'IOC';
export type FeeModel = 'zero_fee' | 'maker_rebate' | 'tiered_schedule' | 'fixed_bps';
/** The custody domain that holds the money and positions of a venue's orders. */
export type TradingDomain = 'chain' | 'kalshi_usd';

export interface Capabilities {
  readonly exchange_id: VenueId;
  readonly display_name: string;
  readonly supported_order_types: Readonly<
    Record<'market' | 'limit' | 'stop_loss' | 'stop_limit' | 'take_profit' | 'trailing_stop', boolean>
  >;
  readonly supported_tif: readonly TimeInForce[];
  readonly supports_post_only: boolean;
  readonly requires_allowances: boolean;
  readonly supports_redemption: boolean;
  readonly has_outcome_tokens: boolean;
  readonly supports_user_websocket: boolean;
  readonly supports_cancel_all: boolean;
  readonly supports_batch_orders: boolean;
  readonly min_tick_size: string;
  readonly min_order_size: string;
  readonly max_order_size: string | null;
  readonly fee_model: FeeModel;
  readonly maker_fee_bps: number | null;
  readonly taker_fee_bps: number | null;
  readonly chain_id: string | null;
  readonly settlement_currency: string;
  readonly autonomous_settlement: boolean;
  readonly settlement_deferred_fill: boolean;
  readonly sell_quantity_decimals: number | null;
  readonly max_price: string | null;
  readonly ws_fill_authoritative: boolean;
  readonly ws_fills_include_exchange_fee: boolean;
  readonly supports_native_amend: boolean;
}

const ALL_TIF: readonly TimeInForce[] = ['GTC', 'GTD', 'FOK', 'FAK', 'IOC'];

/** The defaults of a venue. */
const PLAIN = {
  supported_order_types: {
    ...{ market: true, limit: true },
    ...{ stop_loss: false, stop_limit: false, take_profit: false, trailing_stop: false },
  },
  supported_tif: ALL_TIF,
  supports_post_only: true,
  requires_allowances: false,
  supports_redemption: false,
  has_outcome_tokens: true,
  supports_user_websocket: false,
  supports_cancel_all: false,
  supports_batch_orders: false,
  min_order_size: '1',
  max_order_size: null,
  fee_model: 'zero_fee',
  maker_fee_bps: 0,
  taker_fee_bps: 0,
  chain_id: null,
  settlement_currency: 'USDC',
  autonomous_settlement: false,
  settlement_deferred_fill: false,
  sell_quantity_decimals: null,
  max_price: '1.0',
  ws_fill_authoritative: false,
  ws_fills_include_exchange_fee: false,
  supports_native_amend: false,
} as const;

export const CAPABILITIES: Readonly<Record<VenueId, Capabilities>> = {
  venue_a: {
    ...PLAIN,
    ...{ exchange_id: 'venue_a', display_name: 'Venue A', min_tick_size: '0.01', chain_id: '137' },
    ...{ requires_allowances: true, supports_redemption: true, supports_user_websocket: true },
    ...{ supports_cancel_all: true, supports_batch_orders: true, ws_fill_authoritative: true },
    ...{ fee_model: 'maker_rebate', taker_fee_bps: 200, sell_quantity_decimals: 2 },
  },
  venue_b: {
    ...PLAIN,
    ...{ exchange_id: 'venue_b', display_name: 'Venue B', min_tick_size: '0.01', max_order_size: '100000' },
    ...{ has_outcome_tokens: false, supports_user_websocket: true, supports_cancel_all: true },
    ...{ fee_model: 'tiered_schedule', maker_fee_bps: null, taker_fee_bps: null, sell_quantity_decimals: 2 },
    ...{ settlement_currency: 'USD', ws_fills_include_exchange_fee: true },
    supports_native_amend: true,
  },
  venue_c: {
    ...PLAIN,
    ...{ exchange_id: 'venue_c', display_name: 'Venue C', min_tick_size: '0.001', chain_id: '56' },
    ...{ requires_allowances: true, supports_redemption: true, ws_fill_authoritative: true },
    ...{ settlement_currency: 'USDT', settlement_deferred_fill: true },
  },
  venue_d: {
    ...PLAIN,
    ...{ exchange_id: 'venue_d', display_name: 'Venue D', min_tick_size: '0.01', chain_id: '56' },
    ...{ supported_tif: ['GTC'], supports_post_only: false },
  },
  venue_e: {
    ...PLAIN,
    ...{
      exchange_id: 'venue_e',
      display_name: 'Venue E',
      min_tick_size: '0.0001',
      autonomous_settlement: true,
    },
  },
};

/** The deprecated alias of venue b, in upper or lower case. Every other id must match exactly. */
const ALIAS = 'venue_b_offchain';

export interface NamedVenue {
  readonly venue: VenueId;
  readonly is_alias: boolean;
}

export function venueNamed(id: string): NamedVenue | undefined {
  if (id.toLowerCase() === ALIAS) return { venue: 'venue_b', is_alias: true };
  const venue = VENUE_IDS.find((known) => known === id);
  return venue === undefined ? undefined : { venue, is_alias: false };
}

export function tradingDomain(venue: VenueId): TradingDomain {
  return venue === 'venue_b' ? 'kalshi_usd' : 'chain';
}
