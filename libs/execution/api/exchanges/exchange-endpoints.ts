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
  answers: { 200: { description: 'Their ids, in no order.', body: listOf(anyText) } },
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
  summary: 'What a venue can do',
  answers: { 200: { description: 'All of it; what does not apply is null.', body: capabilities } },
  statuses: UNREGISTERED,
});

export const getTradingStatus = endpoint({
  operationId: 'getTradingStatus',
  method: 'GET',
  path: `${ONE}/trading-status`,
  access: 'session',
  ids,
  summary: 'What the caller may trade at a venue now',
  answers: {
    200: {
      description: 'The strictest mode, narrower switches and breakers.',
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
        description: '`key_id` and `private_key_pem` of an account of the caller',
      },
    },
    ['terms_version', 'attestations'],
  ),
  summary: "Link the caller's account at venue_b, or open one",
  answers: {
    200: {
      description: 'Linked.',
      body: record({ exchange_id: anyText, trading_linked: flagShape, linked_at: moment }),
    },
    202: { description: 'Not yet.', body: record({ exchange_id: anyText, status: anyText }) },
  },
  statuses: {
    400: ['VALIDATION_INVALID_PARAMETER'],
    ...UNREGISTERED,
    503: ['EXCHANGE_UNAVAILABLE', 'SIGNER_UNAVAILABLE', 'CELL_UNAVAILABLE', 'AUTH_ACCESS_UNVERIFIABLE'],
  },
});
