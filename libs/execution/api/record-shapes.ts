import { positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  flag,
  integerFrom,
  listOf,
  optional,
  record,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import { VENUE_IDS } from '../rules/venues.js';

/** RFC 3339 in UTC with milliseconds. */
export const time: Shape = {
  describe: () => ({
    type: 'string',
    format: 'date-time',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`,
  }),
};
export const decimal: Shape = {
  describe: () => ({ type: 'string', pattern: String.raw`^-?\d+(\.\d{1,6})?$` }),
};
export const anything: Shape = { describe: () => ({ type: 'object' }) };
/** The venue's reply, in any form. */
export const whatever: Shape = { describe: () => ({}) };
const absent: Shape = { describe: () => ({ type: 'null' }) };

export function oneOfWords(...all: readonly string[]): Shape {
  return { describe: () => ({ type: 'string', enum: all }) };
}

function orNull(type: string): Shape {
  return { describe: () => ({ type: [type, 'null'] }) };
}

export const venue = oneOfWords(...VENUE_IDS);
export const side = oneOfWords('buy', 'sell');
export const tif = oneOfWords('GTC', 'GTD', 'FOK', 'FAK', 'IOC');
export const kind = oneOfWords('limit', 'market');
export const mode = oneOfWords('on', 'reduce_only', 'cancel_only', 'halted');
const sentAmounts = record({ quantity: decimal, price: decimal });
const fee = record({ amount: decimal, currency: anyText });
export const settlement = oneOfWords('not_applicable', 'pending', 'confirmed', 'failed');
export const orderStatus = oneOfWords(
  ...['queued', 'submitting', 'pending_venue', 'open', 'partially_filled', 'cancel_requested'],
  ...['filled', 'cancelled', 'expired', 'failed'],
);
export const terminalReason = oneOfWords(
  ...['FILLED', 'USER', 'CANCEL_ALL', 'CANCEL_AFTER', 'DISCONNECT', 'UNFILLED_REMAINDER', 'EXPIRED'],
  ...['VENUE', 'MARKET_CLOSED', 'OPERATOR', 'FAILED'],
);
export const classification = oneOfWords('expected_user_rejection', 'retryable', 'non_retryable');
const failure = record({
  code: anyText,
  classification,
  details: record({ code: anyText, actions: listOf(anyText), message: optional(anyText) }),
});

const orderFields = {
  ...{ order_id: uuid, origin: oneOfWords('sotto', 'external'), client_order_id: optional(anyText) },
  ...{ exchange_id: venue, exchange_order_id: optional(anyText), market_id: anyText },
  ...{ token_id: optional(anyText), outcome: anyText, side, kind, time_in_force: tif, post_only: flag },
  ...{ price: decimal, quantity: decimal, requested: sentAmounts, sent: optional(sentAmounts) },
  ...{ status: orderStatus, filled_quantity: decimal, remaining_quantity: decimal },
  average_fill_price: optional(decimal),
  fees: record({ amount: decimal, currency: anyText, source: oneOfWords('venue', 'estimate') }),
  ...{ max_slippage_cents: optional(integerFrom(0)), max_slippage: optional(decimal) },
  ...{ expiration_minutes: optional(integerFrom(1)), not_after: optional(time), max_retries: integerFrom(0) },
  ...{ attempts: integerFrom(0), collateral: anyText, funding: absent, source: anyText },
  ...{ bot_id: optional(anyText), submittedAt: time, updated_at: time, terminal_at: optional(time) },
  ...{ expires_at: optional(time), cancel_requested_at: optional(time), stalled: flag },
  ...{ stalled_since: optional(time), settlement_status: settlement },
  ...{ terminal_reason: optional(terminalReason), failure: optional(failure), version: positive },
};

export const orderRow = named('OrderRow', record({ ...orderFields, raw: absent, metadata: absent }));
export const order = named(
  'Order',
  record({
    ...{ ...orderFields, raw: whatever },
    metadata: record({
      channel: oneOfWords('REST', 'WS', 'BATCH', 'FIX', 'EXTERNAL'),
      client_id: optional(anyText),
    }),
  }),
);

/** `order_id` is null in a synthetic fill. */
export const fillFields = {
  ...{ fill_id: uuid, order_id: uuid, exchange_id: venue, market_id: anyText, token_id: optional(anyText) },
  ...{ outcome: anyText, side, price: decimal, quantity: decimal, fee },
  ...{ liquidity: oneOfWords('maker', 'taker'), venue_trade_id: anyText, settlement_status: settlement },
  ...{ synthetic: optional(flag), occurred_at: time },
};
export const fill = named('Fill', record({ ...fillFields, order_id: orNull('string') }));
export const orderFills = record({ fills: listOf(fill) });

const call = record({
  ...{ operation: oneOfWords('submit', 'cancel', 'amend', 'read'), request_sha256: anyText },
  ...{ signed_at: optional(time), sent_at: time, answered_at: optional(time) },
  ...{ http_status: optional(integerFrom(100)), raw: optional(whatever) },
});
export const timeline = named(
  'Timeline',
  record({
    order_id: uuid,
    events: listOf(
      record({
        ...{ seq: positive, version: positive, at: time, cause: anyText },
        ...{ actor: oneOfWords('USER', 'SERVICE', 'VENUE', 'OPERATOR'), from: optional(orderStatus) },
        ...{ status: orderStatus, call: optional(call) },
      }),
    ),
    times: record({
      ...{ received_at: time, durable_at: time, signed_at: optional(time), sent_at: optional(time) },
      ...{ acknowledged_at: optional(time), matched_at: optional(time), settled_at: optional(time) },
    }),
    next_after_seq: optional(positive),
  }),
);

const positionName = {
  ...{ exchange_id: venue, market_id: anyText, token_id: anyText, holding_wallet: anyText },
  position_id: uuid,
};
export const exposure = named(
  'Exposure',
  record({
    positions: listOf(
      record({
        ...positionName,
        ...{ outcome: anyText, net_size: decimal, available_to_sell: decimal, reserved: decimal },
        ...{ reservations_verified: flag, avg_entry_price_bps: integerFrom(0), realized_pnl: decimal },
        last_trade_at: { describe: () => ({ type: ['string', 'null'], format: 'date-time' }) },
      }),
    ),
    closed: listOf(record({ ...positionName, realized_pnl: decimal, closed_at: time })),
    closed_token_ids: listOf(anyText),
    resolved: listOf(record({ ...positionName, redeemable: flag })),
    ...{ as_of: time, reservation_source: oneOfWords('cell', 'central'), reservations_authoritative: flag },
  }),
);

export const capabilities = named(
  'Capabilities',
  record({
    ...{ exchange_id: venue, display_name: anyText },
    supported_order_types: record({
      ...{ market: flag, limit: flag, stop_loss: flag, stop_limit: flag, take_profit: flag },
      trailing_stop: flag,
    }),
    ...{ supported_tif: listOf(tif), supports_post_only: flag, requires_allowances: flag },
    ...{ supports_redemption: flag, has_outcome_tokens: flag, supports_user_websocket: flag },
    ...{ supports_cancel_all: flag, supports_batch_orders: flag, min_tick_size: anyText },
    ...{ min_order_size: anyText, max_order_size: orNull('string') },
    fee_model: oneOfWords('zero_fee', 'maker_rebate', 'tiered_schedule', 'fixed_bps'),
    ...{ maker_fee_bps: orNull('integer'), taker_fee_bps: orNull('integer'), chain_id: orNull('string') },
    ...{ settlement_currency: anyText, autonomous_settlement: flag, settlement_deferred_fill: flag },
    ...{ sell_quantity_decimals: orNull('integer'), max_price: orNull('string'), is_active: flag },
    ...{ ws_fill_authoritative: flag, ws_fills_include_exchange_fee: flag, supports_native_amend: flag },
  }),
);

export const tradingStatus = named(
  'TradingStatus',
  record({
    ...{ mode, scope: oneOfWords('global', 'venue', 'user'), since: time, resumes_at: optional(time) },
    switches: listOf(
      record({
        ...{ side: optional(side), kind: optional(kind), tif: optional(tif), mode, since: time },
        resumes_at: optional(time),
      }),
    ),
    breakers: listOf(
      record({ side, kind, tif, state: oneOfWords('open', 'half_open'), until: optional(time) }),
    ),
  }),
);

export const market = named(
  'Market',
  record({
    ...{ exchange_id: venue, market_id: anyText, title: anyText },
    status: oneOfWords('open', 'halted', 'closed', 'resolved'),
    ...{ condition_id: optional(anyText), neg_risk: flag },
    outcomes: listOf(record({ index: integerFrom(0, 1), outcome: anyText, token_id: optional(anyText) })),
    tick_size: optional(decimal),
    bands: optional(listOf(record({ start: decimal, end: decimal, step: decimal }))),
    ...{ min_size: decimal, shard: optional(integerFrom(0)), closes_at: time },
    contract_id: optional(anyText),
  }),
);
