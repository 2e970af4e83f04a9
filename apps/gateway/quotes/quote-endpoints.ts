import { object } from '#libs/edge/decode.js';
import { enumOf, instant, uuid } from '#libs/edge/decode-scalars.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { shardUuid } from '#libs/edge/path-ids.js';
import { cursor, integerParam, optionalParam, query } from '#libs/edge/query.js';
import { auctionID } from '../auctions/auction-endpoints.js';
import { quotePreflightBody, reviseBody, submitBody, withdrawAllBody, withdrawBody } from './quote-bodies.js';

const quoteID = shardUuid('invalid_quote_id');
export const quoteCursor = cursor(object({ required: { s: instant, i: uuid } }));

const MAX_PAGE = 50;
const COMMAND_FAULTS = {
  400: [
    'invalid_json',
    'multiple_json_values',
    'idempotency_key_mismatch',
    'idempotency_key_required',
    'invalid_auction_id',
  ],
  403: ['forbidden'],
  422: [],
  429: ['auction_mutation_rate_limited'],
  503: [
    'clock_unhealthy',
    'auction_owner_unavailable',
    'owner_routing_unavailable',
    'owner_response_invalid',
  ],
};
const CONFLICTS = ['idempotency_key_conflict', 'idempotency_key_in_progress'];

export const submitQuote = endpoint({
  operationId: 'submitQuote',
  method: 'POST',
  path: '/v1/auctions/:auctionID/quotes',
  access: 'session',
  capability: 'auction:quote',
  ids: { auctionID },
  body: submitBody,
  idempotency: 'required',
  summary: 'Submit a firm sealed quote',
  statuses: {
    ...COMMAND_FAULTS,
    200: [],
    201: [],
    404: ['auction_not_found'],
    409: [...CONFLICTS, 'quote_already_active'],
  },
});

export const reviseQuote = endpoint({
  operationId: 'reviseQuote',
  method: 'POST',
  path: '/v1/auctions/:auctionID/quotes/:quoteID/revise',
  access: 'session',
  capability: 'auction:quote',
  ids: { auctionID, quoteID },
  body: reviseBody,
  idempotency: 'required',
  summary: 'Change the terms of an active quote',
  statuses: {
    ...COMMAND_FAULTS,
    200: [],
    404: ['auction_not_found', 'quote_not_found'],
    409: [...CONFLICTS, 'quote_revision_conflict'],
  },
});

export const withdrawQuote = endpoint({
  operationId: 'withdrawQuote',
  method: 'POST',
  path: '/v1/auctions/:auctionID/quotes/:quoteID/withdraw',
  access: 'session',
  capability: 'auction:quote',
  ids: { auctionID, quoteID },
  body: withdrawBody,
  idempotency: 'required',
  summary: 'Withdraw an active quote',
  statuses: {
    ...COMMAND_FAULTS,
    200: [],
    404: ['auction_not_found', 'quote_not_found'],
    409: [...CONFLICTS, 'quote_revision_conflict'],
  },
});

export const preflightQuote = endpoint({
  operationId: 'preflightQuote',
  method: 'POST',
  path: '/v1/auctions/:auctionID/quotes/preflight',
  access: 'session',
  capability: 'auction:quote',
  ids: { auctionID },
  body: quotePreflightBody,
  unauthorizedMessage: 'authentication is required',
  summary: "The caller's capacity at a price on every frozen route",
  statuses: {
    200: [],
    400: ['invalid_json', 'multiple_json_values', 'invalid_auction_id'],
    403: ['forbidden'],
    404: ['auction_not_found'],
    422: ['auction_rejected'],
    500: ['internal_error'],
    503: ['auction_owner_unavailable'],
  },
});

export const listAuctionQuotes = endpoint({
  operationId: 'listAuctionQuotes',
  method: 'GET',
  path: '/v1/auctions/:auctionID/quotes',
  access: 'session',
  ids: { auctionID },
  summary: "The caller's quotes in one auction; to the originator the awarded ones",
  statuses: { 200: [], 400: ['invalid_auction_id'], 404: ['auction_not_found'] },
});

export const listQuotes = endpoint({
  operationId: 'listQuotes',
  method: 'GET',
  path: '/v1/quotes',
  access: 'session',
  query: query('invalid_list_page', {
    status: optionalParam(
      enumOf([
        'ACTIVE',
        'WITHDRAWN',
        'EXPIRED',
        'AWARDED',
        'PARTIALLY_AWARDED',
        'NOT_AWARDED',
        'RELEASED',
        'SETTLED',
        'FAILED',
      ]),
    ),
    limit: integerParam(1, MAX_PAGE, MAX_PAGE),
    cursor: quoteCursor.param,
  }),
  summary: "All of the caller's quotes, newest first",
  statuses: { 200: [], 400: ['invalid_list_page'], 503: ['completed_projection_unavailable'] },
});

export const withdrawAllQuotes = endpoint({
  operationId: 'withdrawAllQuotes',
  method: 'POST',
  path: '/v1/quotes/withdraw-all',
  access: 'session',
  capability: 'auction:quote',
  body: withdrawAllBody,
  idempotency: 'required',
  summary: 'Withdraw every quote of the caller, or those of some auctions or of one venue',
  statuses: { ...COMMAND_FAULTS, 200: [], 409: CONFLICTS },
});
