import { endpoint } from '#libs/edge/endpoint.js';
import { NDJSON } from '#libs/edge/reply/ndjson.js';
import { cursor, ignoredIn, integerParam, query } from '#libs/edge/decoding/query.js';
import { object } from '#libs/edge/decoding/decode.js';
import { instant } from '#libs/edge/decoding/decode-scalars.js';
import { shardId, shardUuid } from '../../stream/stream-limits.js';
import { moment, optional } from '#libs/edge/documents/shapes.js';
import { verdict } from '../quotes/quote-shapes.js';
import { auction, auctionPage, ownAuction } from './auction-shapes.js';
import { cancelBody, createBody } from './create-body.js';
import { timelineLine, timelinePage } from './timeline-shapes.js';

export const auctionID = shardUuid('invalid_auction_id');
export const auctionCursor = cursor(object({ required: { o: instant, i: shardId } }));

const MAX_PAGE = 50;
const MAX_EVENTS = 1_000;
const USUAL_EVENTS = 200;
const OWNER_FAULTS = ['auction_owner_unavailable', 'owner_routing_unavailable', 'owner_response_invalid'];
const PAUSES = ['projection_backlog', 'clock_unhealthy', 'journal_capacity_unhealthy'];
const CONFLICTS = ['idempotency_key_conflict', 'idempotency_key_in_progress'];
const POLICY = [
  'SERVICE_HALTED',
  'PRINCIPAL_SUSPENDED',
  'PRINCIPAL_NOT_ENTITLED',
  'VENUE_HALTED',
  'MARKET_NOT_TRADABLE',
  'UNAUTHORIZED_SIZE',
  'AUTHORITY_EVIDENCE_STALE',
];
/** Refusals that do not depend on the caller or its capacity. */
const UNFIT = [
  'INVALID_TERMS',
  'INVALID_SCHEDULE',
  'INVALID_QUANTITY_STEP',
  'PRICE_OUT_OF_RANGE',
  'INVALID_PRICE_TICK',
  'ROUTE_UNAVAILABLE',
  'ROUTES_NOT_EQUIVALENT',
  'MARKET_CLOSES_BEFORE_AUCTION',
  'AUDIENCE_EMPTY',
  'AUDIENCE_TOO_LARGE',
  'AUDIENCE_MEMBER_UNKNOWN',
  'GROUP_UNKNOWN',
];
const CAPACITY = [
  'INSUFFICIENT_COLLATERAL',
  'INSUFFICIENT_INVENTORY',
  'VENUE_LIMIT_EXCEEDED',
  'SERVICE_CAPACITY_EXCEEDED',
  'RISK_EVIDENCE_STALE',
];

export const createAuction = endpoint({
  operationId: 'createAuction',
  method: 'POST',
  path: '/v1/auctions',
  access: 'session',
  capability: 'auction:create',
  body: createBody,
  bodyName: 'AuctionRequest',
  idempotency: 'required',
  summary: 'Create and open an auction',
  description:
    'Audience, identities and terms are frozen, and what the auction can cost is set aside, before the answer. Metered by the `create` bucket.',
  answers: {
    200: { description: 'The first answer to this key and content, again.', body: ownAuction },
    201: { description: 'Durably opened.', body: ownAuction },
  },
  statuses: {
    409: CONFLICTS,
    422: [...UNFIT, ...POLICY, ...CAPACITY, 'ACTIVE_AUCTION_LIMIT'],
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
  bodyName: 'AuctionRequest',
  idempotency: 'ignored',
  neverUnavailable: true,
  summary: 'The capacity for a create on every route',
  description:
    'This is evidence, not a promise: nothing is created and nothing is set aside. A create repeats the same calculation. Not metered; an idempotency key is ignored.',
  answers: { 200: { description: 'The capacity at this moment.', body: verdict } },
  statuses: {
    422: [...UNFIT, ...POLICY, 'RISK_EVIDENCE_STALE'],
    500: ['internal_error'],
  },
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
  description:
    'Ordered by `opened_at`, then `auction_id`, both descending. If an owner cannot be asked, there is an error and never a shortened page.',
  answers: { 200: { description: 'A page.', body: auctionPage } },
  statuses: {
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
  answers: {
    200: {
      description: 'The view of the originator or of an invited maker.',
      body: auction,
      headers: { 'x-auction-completed-as-of': optional(moment) },
    },
  },
  statuses: {
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
    // NDJSON contains all entries whatever `limit` says, even an invalid one.
    limit: ignoredIn(NDJSON, integerParam(1, MAX_EVENTS, USUAL_EVENTS)),
  }),
  summary: "The caller's complete timeline of one auction",
  description:
    'With `Accept: application/x-ndjson` the same entries come one per line, all of them whatever `limit` says. The last line is `{"complete":true,"count":n}`: a reader that does not see it knows that the answer was cut off.',
  answers: {
    200: {
      description: 'The entries after `after_seq`.',
      body: timelinePage,
      also: { [NDJSON]: timelineLine },
    },
  },
  statuses: {
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
  description: 'Metered by the `cancel` bucket.',
  answers: { 200: { description: 'The auction as it ended.', body: ownAuction } },
  statuses: {
    403: ['forbidden'],
    404: ['auction_not_found'],
    409: CONFLICTS,
    422: ['AUCTION_NOT_OPEN', 'INVALID_TERMS'],
    429: ['auction_mutation_rate_limited'],
    503: OWNER_FAULTS,
  },
});
