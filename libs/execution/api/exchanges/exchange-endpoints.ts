import { anyText, listOf, record } from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { capabilities, tradingStatus } from '../record-shapes.js';
import { NO_BODY } from '../refusals.js';
import { exchangeId, flagShape, moment, openBody, TEXT } from '../shapes.js';

const ONE = '/exchanges/:exchange_id';
const UNREGISTERED = { 404: [NO_BODY] };
const ids = { exchange_id: exchangeId };

export const listExchanges = endpoint({
  operationId: 'listExchanges',
  method: 'GET',
  path: '/exchanges',
  access: 'session',
  summary: 'The registered venues',
  answers: { 200: { description: 'Their ids, in no particular order.', body: listOf(anyText) } },
});

export const getExchange = endpoint({
  operationId: 'getExchange',
  method: 'GET',
  path: ONE,
  access: 'session',
  ids,
  summary: 'One venue. An id that is not registered is 404 without a body',
  answers: {
    200: {
      description: 'The venue.',
      body: record({ id: anyText, name: anyText, is_active: flagShape, capabilities }),
    },
  },
  statuses: UNREGISTERED,
});

export const getCapabilities = endpoint({
  operationId: 'getCapabilities',
  method: 'GET',
  path: `${ONE}/capabilities`,
  access: 'session',
  ids,
  summary: 'The capabilities of a venue',
  answers: {
    200: { description: 'All capabilities. Those that do not apply are null.', body: capabilities },
  },
  statuses: UNREGISTERED,
});

export const getTradingStatus = endpoint({
  operationId: 'getTradingStatus',
  method: 'GET',
  path: `${ONE}/trading-status`,
  access: 'session',
  ids,
  summary: 'Whether and what the caller may trade at a venue now',
  answers: {
    200: {
      description: 'The strictest mode, switches for kinds of orders, and breakers.',
      body: tradingStatus,
    },
  },
  statuses: { ...UNREGISTERED, 503: ['CELL_UNAVAILABLE'] },
});

export const enableTrading = endpoint({
  operationId: 'enableTrading',
  method: 'POST',
  path: `${ONE}/enable-trading`,
  access: 'session',
  capability: 'trade:execute',
  ids,
  body: openBody(
    {
      terms_version: TEXT,
      attestations: { type: 'object', description: '`residency`, `age` and `terms`, all true' },
      credentials: {
        type: 'object',
        description: "`key_id` and `private_key_pem` of the caller's own account",
      },
    },
    ['terms_version', 'attestations'],
  ),
  summary: "Link the caller's account at venue_b, or open one",
  answers: {
    200: {
      description: 'The account is linked.',
      body: record({ exchange_id: anyText, trading_linked: flagShape, linked_at: moment }),
    },
    202: {
      description: 'The account is not linked yet.',
      body: record({ exchange_id: anyText, status: anyText }),
    },
  },
  statuses: {
    400: ['VALIDATION_INVALID_PARAMETER'],
    ...UNREGISTERED,
    503: ['EXCHANGE_UNAVAILABLE', 'SIGNER_UNAVAILABLE', 'CELL_UNAVAILABLE', 'AUTH_ACCESS_UNVERIFIABLE'],
  },
});
