import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import { named } from '#libs/edge/documents/components.js';
import { anyText, constant, listOf, optional, record } from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { AMEND_OPERATION } from '../dialect.js';
import { NO_PARAMS, params } from '../params.js';
import {
  decimalText,
  FLAG,
  flagShape,
  moment,
  NUMBER,
  numberShape,
  openBody,
  orderId,
  TEXT,
  TIME,
  UUID,
  uuidText,
  WHOLE,
  wholeShape,
} from '../shapes.js';

import { NO_BODY, PLAIN_TEXT } from '../refusals.js';
import {
  anything,
  classification,
  oneOfWords,
  order,
  orderFills,
  orderRow,
  orderStatus,
  terminalReason,
  timeline,
} from '../record-shapes.js';

const ONE_ORDER = '/orders/:order_id';
const MARKET_ERRORS = [
  'EXCHANGE_UNAVAILABLE',
  'CELL_UNAVAILABLE',
  'EXCHANGE_TRADING_HALTED',
  'EXCHANGE_CIRCUIT_OPEN',
  'AUTH_ACCESS_UNVERIFIABLE',
];
/** The answer if API keys may not use the venue. */
const DENIED = [NO_BODY];
const CELL_ERRORS = ['CELL_UNAVAILABLE', 'AUTH_ACCESS_UNVERIFIABLE'];

const notCancelled = record({
  order_id: uuidText,
  error_details: record({
    code: anyText,
    details: optional(anything),
    metadata: record({ classification }),
  }),
});

const submitFields: Readonly<Record<string, JsonSchema>> = {
  ...{ exchange_id: TEXT, market_id: TEXT, side: TEXT, kind: { type: 'string', enum: ['market', 'limit'] } },
  ...{ quantity: NUMBER, price: NUMBER, outcome: TEXT, token_id: TEXT, time_in_force: TEXT, post_only: FLAG },
  ...{ expiration_minutes: WHOLE, client_order_id: TEXT, trigger_price: NUMBER, max_slippage_cents: WHOLE },
  ...{ max_slippage: NUMBER, max_retries: WHOLE, collateral: TEXT, shard_funding: FLAG },
  ...{ max_bridge_fee_usdc: { oneOf: [NUMBER, TEXT] }, max_funding_wait_ms: WHOLE, bot_id: TEXT },
  ...{
    source: TEXT,
    gas_sponsored: FLAG,
    user_id: TEXT,
    orderbook_levels: { type: 'array' },
    not_after: TIME,
  },
};

export const submitOrder = endpoint({
  operationId: 'submitOrder',
  method: 'POST',
  path: '/orders',
  access: 'session',
  capability: 'trade:execute',
  query: NO_PARAMS,
  body: openBody(submitFields, ['exchange_id', 'market_id', 'side', 'kind', 'quantity', 'price', 'outcome']),
  summary: 'Submit an order. The answer comes once the order is durable, before the venue has answered',
  answers: {
    200: {
      description: 'Accepted now, or accepted earlier under the same key.',
      body: named(
        'Submitted',
        record({
          order_id: uuidText,
          status: orderStatus,
          funding: { describe: () => ({ type: ['object', 'null'] }) },
        }),
      ),
      headers: {
        'idempotent-replay': optional(constant('true')),
        'idempotent-mismatch': optional(constant('true')),
      },
    },
  },
  statuses: {
    400: [
      'VALIDATION_INVALID_ORDER',
      'VALIDATION_INVALID_PRICE',
      'VALIDATION_INVALID_QUANTITY',
      'VALIDATION_INVALID_TIF',
      'VALIDATION_POST_ONLY_UNSUPPORTED',
      'VALIDATION_TRIGGER_UNSUPPORTED',
      'VALIDATION_INVALID_COLLATERAL',
      'VALIDATION_FUNDING_CAP_REQUIRED',
      'VALIDATION_FUNDING_CAP_UNEXPECTED',
      'VALIDATION_INVALID_TOKEN',
    ],
    403: DENIED,
    404: ['VALIDATION_MARKET_NOT_FOUND'],
    409: [
      'VALIDATION_MARKET_CLOSED',
      'COMMAND_EXPIRED',
      'EXCHANGE_NOT_LINKED',
      'INSUFFICIENT_POSITION',
      'POSITION_RESERVATION_UNVERIFIED',
    ],
    429: ['RATE_LIMITED_ORDERS', 'RATE_LIMITED_KEY'],
    503: MARKET_ERRORS,
  },
});

export const getOrder = endpoint({
  operationId: 'getOrder',
  method: 'GET',
  path: ONE_ORDER,
  access: 'session',
  capability: 'trade:read',
  ids: { order_id: orderId },
  query: NO_PARAMS,
  summary: 'Read one order',
  answers: { 200: { description: 'The whole record.', body: order } },
  statuses: { 404: ['ORDER_NOT_FOUND'], 429: ['RATE_LIMITED_CALLS'], 503: CELL_ERRORS },
});

export const getOrderFills = endpoint({
  operationId: 'getOrderFills',
  method: 'GET',
  path: `${ONE_ORDER}/fills`,
  access: 'session',
  capability: 'trade:read',
  ids: { order_id: orderId },
  query: NO_PARAMS,
  summary: 'The fills of one order, oldest first',
  answers: { 200: { description: 'The fills.', body: orderFills } },
  statuses: { 404: ['ORDER_NOT_FOUND'], 429: ['RATE_LIMITED_CALLS'], 503: CELL_ERRORS },
});

export const getOrderEvents = endpoint({
  operationId: 'getOrderEvents',
  method: 'GET',
  path: `${ONE_ORDER}/events`,
  access: 'session',
  capability: 'trade:read',
  ids: { order_id: orderId },
  query: params({ names: { after_seq: WHOLE, limit: WHOLE } }),
  summary: 'The timeline of one order, with every call to the venue',
  answers: {
    200: {
      description: 'One page of the timeline.',
      body: timeline,
    },
  },
  statuses: { 404: ['ORDER_NOT_FOUND'], 429: ['RATE_LIMITED_CALLS'], 503: CELL_ERRORS },
});

export const listOrders = endpoint({
  operationId: 'listOrders',
  method: 'GET',
  path: '/orders',
  access: 'session',
  capability: 'trade:read',
  query: params({
    names: {
      ...{ limit: WHOLE, offset: WHOLE, before_id: UUID, exchange_id: TEXT, market_id: TEXT, token_id: TEXT },
      ...{
        status: { type: 'array', items: TEXT },
        side: TEXT,
        client_order_id: TEXT,
        bot_id: TEXT,
        source: TEXT,
      },
      ...{ origin: TEXT, submitted_after: TIME, submitted_before: TIME, updated_after: TIME },
    },
    repeatable: ['status'],
  }),
  summary: "The caller's orders, newest first",
  answers: {
    200: {
      description: 'A page.',
      body: record({ orders: listOf(orderRow), has_more: flagShape, next_before_id: optional(uuidText) }),
    },
  },
  statuses: { 429: ['RATE_LIMITED_CALLS'] },
});

const cancelled = named(
  'Cancelled',
  record({
    ...{ order_id: uuidText, status: orderStatus, success: flagShape },
    ...{ filled_quantity: decimalText, remaining_quantity: decimalText },
    ...{ terminal_reason: optional(terminalReason), message: optional(anyText) },
  }),
);

export const cancelOrder = endpoint({
  operationId: 'cancelOrder',
  method: 'POST',
  path: `${ONE_ORDER}/cancel`,
  access: 'session',
  capability: 'trade:execute',
  ids: { order_id: orderId },
  query: NO_PARAMS,
  body: openBody({ reason: TEXT, not_after: TIME }),
  summary: 'Cancel an order',
  answers: {
    200: { description: 'The result of the cancel. A cancel that is too late is no error.', body: cancelled },
  },
  statuses: {
    403: DENIED,
    404: ['ORDER_NOT_FOUND'],
    409: ['COMMAND_EXPIRED'],
    429: ['RATE_LIMITED_CALLS'],
    503: CELL_ERRORS,
  },
});

export const cancelByClientId = endpoint({
  operationId: 'cancelByClientId',
  method: 'POST',
  path: '/orders/cancel-by-client-id',
  access: 'session',
  capability: 'trade:execute',
  query: NO_PARAMS,
  body: openBody({ exchange_id: TEXT, market_id: TEXT, client_order_id: TEXT, not_after: TIME }, [
    'exchange_id',
    'market_id',
    'client_order_id',
  ]),
  summary: 'Cancel an order by its client order id',
  answers: { 200: { description: 'The same as for a cancel by id.', body: cancelled } },
  statuses: {
    403: DENIED,
    404: ['ORDER_NOT_FOUND'],
    409: ['COMMAND_EXPIRED'],
    429: ['RATE_LIMITED_CALLS'],
    503: CELL_ERRORS,
  },
});

export const cancelAll = endpoint({
  operationId: 'cancelAllOrders',
  method: 'POST',
  path: '/orders/cancel-all',
  access: 'session',
  capability: 'trade:execute',
  query: NO_PARAMS,
  body: openBody(
    { exchange_id: TEXT, market_id: TEXT, token_id: TEXT, side: TEXT, emulate: FLAG, not_after: TIME },
    ['exchange_id'],
  ),
  summary: 'Cancel all live orders at a venue',
  answers: {
    200: {
      description: 'The number of orders, and their results within two seconds.',
      body: record({
        ...{ requested: wholeShape, cancelled: wholeShape, pending: wholeShape },
        ...{ failed: listOf(notCancelled), mode: oneOfWords('native', 'emulated'), as_of: moment },
      }),
    },
  },
  statuses: {
    403: DENIED,
    409: ['EXCHANGE_CANCEL_ALL_UNSUPPORTED', 'COMMAND_EXPIRED'],
    429: ['RATE_LIMITED_CALLS'],
    503: CELL_ERRORS,
  },
});

export const cancelAfter = endpoint({
  operationId: 'cancelAfter',
  method: 'POST',
  path: '/orders/cancel-after',
  access: 'session',
  capability: 'trade:execute',
  query: NO_PARAMS,
  body: openBody({ timeout_ms: WHOLE, exchange_id: TEXT }, ['timeout_ms']),
  summary: 'Cancel all orders unless this timer is renewed in time. 0 disarms it',
  answers: {
    200: { description: 'When the timer is due.', body: record({ armed_until: optional(moment) }) },
  },
  statuses: { 403: DENIED, 429: ['RATE_LIMITED_CALLS'], 503: CELL_ERRORS },
});

export const amendOrder = endpoint({
  operationId: AMEND_OPERATION,
  method: 'POST',
  path: `${ONE_ORDER}/amend`,
  access: 'session',
  capability: 'trade:execute',
  ids: { order_id: orderId },
  query: NO_PARAMS,
  body: openBody({ price: NUMBER, quantity: NUMBER, not_after: TIME }, ['price']),
  absentBody: 'refused',
  summary: 'Change the price of a resting order in place',
  answers: {
    200: {
      description: 'Whether the order was amended.',
      body: record({
        success: flagShape,
        ...{
          exchange_order_id: optional(anyText),
          price: optional(numberShape),
          quantity: optional(numberShape),
        },
        message: optional(anyText),
      }),
    },
  },
  statuses: {
    400: ['VALIDATION_INVALID_PRICE', PLAIN_TEXT],
    404: ['ORDER_NOT_FOUND'],
    409: ['EXCHANGE_AMEND_UNSUPPORTED', 'COMMAND_EXPIRED'],
    429: ['RATE_LIMITED_ORDERS', 'RATE_LIMITED_KEY'],
    503: MARKET_ERRORS,
  },
});

export const batchOrders = endpoint({
  operationId: 'batchOrders',
  method: 'POST',
  path: '/orders/batch',
  access: 'session',
  capability: 'trade:execute',
  query: NO_PARAMS,
  body: openBody({ exchange_id: TEXT, orders: { type: 'array', items: { type: 'object' } } }, [
    'exchange_id',
    'orders',
  ]),
  summary: 'Submit several orders at once, at venues that support batches',
  statuses: { 403: DENIED, 409: ['EXCHANGE_BATCH_UNSUPPORTED'], 503: ['AUTH_ACCESS_UNVERIFIABLE'] },
});

export const feeQuote = endpoint({
  operationId: 'feeQuote',
  method: 'GET',
  path: '/orders/fee-quote',
  access: 'session',
  capability: 'trade:read',
  query: params({
    names: {
      ...{ exchange_id: TEXT, market_id: TEXT, token_id: TEXT, outcome: TEXT, side: TEXT, kind: TEXT },
      ...{ quantity: TEXT, price: TEXT, post_only: TEXT },
    },
  }),
  summary: 'The fees of one fill at this price',
  answers: {
    200: {
      description: 'The fees, by the fee schedule and the present book.',
      body: named(
        'FeeQuote',
        record({
          ...{ fee_model: anyText, liquidity: anyText, notional: decimalText, venue_fee: decimalText },
          ...{ platform_fee: decimalText, gas_fee: decimalText, total_fee: decimalText, currency: anyText },
          ...{ effective_price: decimalText, fee_source: anyText, valid_until: moment },
        }),
      ),
    },
  },
  statuses: {
    404: ['VALIDATION_MARKET_NOT_FOUND'],
    409: ['EXCHANGE_FEE_QUOTE_UNSUPPORTED'],
    429: ['RATE_LIMITED_CALLS'],
    503: ['EXCHANGE_UNAVAILABLE'],
  },
});
