import { endpoint } from '#libs/edge/endpoint.js';
import { cursor, integerParam, query } from '#libs/edge/query.js';
import { object } from '#libs/edge/decode.js';
import { instant, uuid } from '#libs/edge/decode-scalars.js';
import { shardUuid } from '#libs/edge/path-ids.js';
import { cancelBody, createBody } from './create-body.js';

export const auctionID = shardUuid('invalid_auction_id');
export const auctionCursor = cursor(object({ required: { o: instant, i: uuid } }));

const MAX_PAGE = 50;
const MAX_EVENTS = 1_000;
const USUAL_EVENTS = 200;
const OWNER_FAULTS = ['auction_owner_unavailable', 'owner_routing_unavailable', 'owner_response_invalid'];
const PAUSES = ['projection_backlog', 'clock_unhealthy', 'journal_capacity_unhealthy'];
const BODY_FAULTS = ['invalid_json', 'multiple_json_values'];
const KEY_FAULTS = ['idempotency_key_mismatch', 'idempotency_key_required'];
const CONFLICTS = ['idempotency_key_conflict', 'idempotency_key_in_progress'];

export const createAuction = endpoint({
  operationId: 'createAuction',
  method: 'POST',
  path: '/v1/auctions',
  access: 'session',
  capability: 'auction:create',
  body: createBody,
  idempotency: 'required',
  summary: 'Create and open an auction',
  statuses: {
    200: [],
    201: [],
    400: [...BODY_FAULTS, ...KEY_FAULTS],
    409: CONFLICTS,
    422: [],
    429: ['auction_mutation_rate_limited'],
    503: [...PAUSES, ...OWNER_FAULTS],
  },
});

export const preflightAuction = endpoint({
  operationId: 'preflightAuction',
  method: 'POST',
  path: '/v1/auctions/preflight',
  access: 'session',
  capability: 'auction:create',
  body: createBody,
  idempotency: 'ignored',
  summary: 'What a create would be told of the capacity on every route',
  statuses: { 200: [], 400: BODY_FAULTS, 422: [], 500: ['internal_error'] },
});

export const listAuctions = endpoint({
  operationId: 'listAuctions',
  method: 'GET',
  path: '/v1/auctions',
  access: 'session',
  query: query('invalid_list_page', {
    limit: integerParam(1, MAX_PAGE, MAX_PAGE),
    cursor: auctionCursor.param,
  }),
  summary: 'All auctions that the caller may see, newest first',
  statuses: {
    200: [],
    400: ['invalid_list_page'],
    503: [
      'completed_projection_unavailable',
      'auction_list_projection_invalid',
      'auction_list_item_exceeds_response_limit',
      ...OWNER_FAULTS,
    ],
  },
});

export const getAuction = endpoint({
  operationId: 'getAuction',
  method: 'GET',
  path: '/v1/auctions/:auctionID',
  access: 'session',
  ids: { auctionID },
  summary: 'One auction as the caller may see it',
  statuses: {
    200: [],
    400: ['invalid_auction_id'],
    404: ['auction_not_found'],
    503: ['completed_projection_unavailable', ...OWNER_FAULTS],
  },
});

export const getEvents = endpoint({
  operationId: 'listAuctionEvents',
  method: 'GET',
  path: '/v1/auctions/:auctionID/events',
  access: 'session',
  ids: { auctionID },
  query: query('invalid_events_page', {
    after_seq: integerParam(0, Number.MAX_SAFE_INTEGER, 0),
    limit: integerParam(1, MAX_EVENTS, USUAL_EVENTS),
  }),
  summary: "The caller's complete timeline of one auction",
  statuses: {
    200: [],
    400: ['invalid_auction_id', 'invalid_events_page'],
    404: ['auction_not_found'],
    503: ['audit_timeline_incomplete', 'completed_projection_unavailable', ...OWNER_FAULTS],
  },
});

export const cancelAuction = endpoint({
  operationId: 'cancelAuction',
  method: 'POST',
  path: '/v1/auctions/:auctionID/cancel',
  access: 'session',
  capability: 'auction:create',
  ids: { auctionID },
  body: cancelBody,
  idempotency: 'required',
  summary: 'Cancel an open auction; every reservation is released',
  statuses: {
    200: [],
    400: [...BODY_FAULTS, ...KEY_FAULTS, 'invalid_auction_id'],
    403: ['forbidden'],
    404: ['auction_not_found'],
    409: CONFLICTS,
    422: ['AUCTION_NOT_OPEN'],
    429: ['auction_mutation_rate_limited'],
    503: OWNER_FAULTS,
  },
});
