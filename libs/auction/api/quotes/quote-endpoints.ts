import { object } from '#libs/edge/decoding/decode.js';
import { enumOf, instant } from '#libs/edge/decoding/decode-scalars.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { shardId, shardUuid } from '../../stream/stream-limits.js';
import { cursor, integerParam, optionalParam, query } from '#libs/edge/decoding/query.js';
import { auctionID } from '../auctions/auction-endpoints.js';
import { auctionQuotes, quote, quotePage, verdict, withdrawnAll } from './quote-shapes.js';
import { quotePreflightBody, reviseBody, submitBody, withdrawAllBody, withdrawBody } from './quote-bodies.js';

const quoteID = shardUuid('invalid_quote_id');
export const quoteCursor = cursor(object({ required: { s: instant, i: shardId } }));

const MAX_PAGE = 50;
const COMMAND_FAULTS = {
  403: ['forbidden'],
  429: ['auction_mutation_rate_limited'],
  503: ['auction_owner_unavailable', 'owner_routing_unavailable', 'owner_response_invalid'],
};
const FIRM_FAULTS = { ...COMMAND_FAULTS, 503: ['clock_unhealthy', ...COMMAND_FAULTS[503]] };
const POLICY = [
  'SERVICE_HALTED',
  'PRINCIPAL_SUSPENDED',
  'PRINCIPAL_NOT_ENTITLED',
  'VENUE_HALTED',
  'MARKET_NOT_TRADABLE',
  'MMP_FROZEN',
  'UNAUTHORIZED_SIZE',
  'AUTHORITY_EVIDENCE_STALE',
];
const GRID = ['PRICE_OUT_OF_RANGE', 'INVALID_PRICE_TICK', 'INVALID_QUANTITY_STEP'];
const UNFIT = [
  'AUCTION_NOT_OPEN',
  ...POLICY,
  ...GRID,
  'QUANTITY_BELOW_MINIMUM',
  'INVALID_TERMS',
  'INSUFFICIENT_COLLATERAL',
  'INSUFFICIENT_INVENTORY',
  'VENUE_LIMIT_EXCEEDED',
  'SERVICE_CAPACITY_EXCEEDED',
  'RISK_EVIDENCE_STALE',
];
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
  description:
    'What the quote can cost is set aside before the answer. There is no last look. Metered by the `quote` and `quote_per_auction` buckets.',
  answers: {
    200: { description: 'The first answer to this key and content, again.', body: quote },
    201: { description: 'The quote is active.', body: quote },
  },
  statuses: {
    ...FIRM_FAULTS,
    422: UNFIT,
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
  description:
    'A better price or a larger quantity loses priority to earlier quotes of the same price; a smaller quantity keeps it. Metered like a submit.',
  answers: { 200: { description: 'The quote with its new terms.', body: quote } },
  statuses: {
    ...FIRM_FAULTS,
    422: [...UNFIT, 'QUOTE_NOT_REVISABLE', 'REVISION_NOT_IMPROVING'],
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
  description: 'Works during halts, pauses and drains too. Metered by the `withdraw` bucket.',
  answers: { 200: { description: 'The quote as it ended.', body: quote } },
  statuses: {
    ...COMMAND_FAULTS,
    422: ['AUCTION_NOT_OPEN', 'QUOTE_NOT_WITHDRAWABLE'],
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
  description:
    'This is evidence, not a promise: a submit repeats the same calculation. The maximum is a multiple of the quantity step and may exceed the size of the auction. What your own quote in this auction holds counts as free. Not metered.',
  answers: { 200: { description: 'The capacity at this moment.', body: verdict } },
  statuses: {
    403: ['forbidden'],
    404: ['auction_not_found'],
    422: ['auction_rejected', ...POLICY, ...GRID, 'RISK_EVIDENCE_STALE'],
    500: ['internal_error'],
    503: ['auction_owner_unavailable', 'owner_response_invalid'],
  },
});

export const listAuctionQuotes = endpoint({
  operationId: 'listAuctionQuotes',
  method: 'GET',
  path: '/v1/auctions/:auctionID/quotes',
  access: 'session',
  ids: { auctionID },
  summary: "The caller's quotes in one auction; for the originator, the awarded ones",
  answers: {
    200: {
      description: 'Newest first; for the originator, in the order of the awards.',
      body: auctionQuotes,
    },
  },
  statuses: {
    404: ['auction_not_found'],
    503: ['completed_projection_unavailable', ...COMMAND_FAULTS[503]],
  },
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
  answers: { 200: { description: 'A page.', body: quotePage } },
  statuses: {
    503: ['completed_projection_unavailable', ...COMMAND_FAULTS[503]],
  },
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
  description:
    'Goes to every owner with one key. An owner that cannot be asked is named in `shards`; a repeat with the same key runs there, and nowhere a second time. Counts as one token of the `withdraw` bucket.',
  answers: { 200: { description: 'What was withdrawn, and what could not be.', body: withdrawnAll } },
  statuses: {
    409: CONFLICTS,
    422: ['INVALID_TERMS'],
    429: ['auction_mutation_rate_limited'],
  },
});
