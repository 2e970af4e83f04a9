import { object } from '#libs/edge/decoding/decode.js';
import { anyUuid, positive } from '#libs/edge/decoding/decode-scalars.js';
import { endpoint, type IdKind } from '#libs/edge/endpoint.js';
import { cursor, integerParam, query } from '#libs/edge/decoding/query.js';
import { auctionID } from '../auctions/auction-endpoints.js';
import { haltBody, orderBody, voidBody } from './operator-bodies.js';
import {
  accountLimits,
  actionPage,
  halt,
  halts,
  serviceLimits,
  shard,
  shards,
  voided,
} from './operator-shapes.js';

const role = 'OPERATOR';
const MAX_PAGE = 50;
const NUMBER = /^(?:0|[1-9][0-9]{0,8})$/;
const OWNER_FAULTS = ['auction_owner_unavailable', 'owner_routing_unavailable', 'owner_response_invalid'];

/** Accepts any number. Whether it is a shard is checked later. */
const shardNumber: IdKind = {
  fault: 'invalid_request',
  accepts: (segment) => NUMBER.test(segment),
  describe: () => ({ type: 'integer', minimum: 0, description: 'The shard: 0, 1 or 2.' }),
};
const described = (kind: IdKind, description: string): IdKind => ({
  ...kind,
  describe: () => ({ ...kind.describe?.(), description }),
});
const haltID = described(anyUuid('invalid_request'), 'The halt.');
const accountID = described(anyUuid('invalid_request'), 'The account.');
export const actionCursor = cursor(object({ required: { e: positive } }));

const shardOrder = {
  method: 'POST',
  access: 'session',
  role,
  ids: { shard: shardNumber },
  body: orderBody,
  answers: { 200: { description: 'The shard as it now is.', body: shard } },
  statuses: { 400: ['invalid_request'], 404: ['not_found'], 503: OWNER_FAULTS },
} as const;

export const listShards = endpoint({
  operationId: 'listShards',
  method: 'GET',
  path: '/v1/ops/shards',
  access: 'session',
  role,
  summary: 'The state of the shards',
  description: 'Answers within a second, even while owners are down or frozen.',
  answers: { 200: { description: 'All three.', body: shards } },
});

export const drainShard = endpoint({
  ...shardOrder,
  operationId: 'drainShard',
  path: '/v1/ops/shards/:shard/drain',
  summary: 'Stop creates on a shard',
  description:
    'Everything else goes on, and the process keeps running. A shard that is already draining is not changed.',
});

export const resumeShard = endpoint({
  ...shardOrder,
  operationId: 'resumeShard',
  path: '/v1/ops/shards/:shard/resume',
  summary: 'Allow creates on a drained shard again',
  description: 'A shard that is not draining is not changed. A process that is stopping is not delayed.',
});

export const listHalts = endpoint({
  operationId: 'listHalts',
  method: 'GET',
  path: '/v1/ops/halts',
  access: 'session',
  role,
  summary: 'Halts in force',
  answers: { 200: { description: 'All of them.', body: halts } },
});

export const imposeHalt = endpoint({
  operationId: 'imposeHalt',
  method: 'POST',
  path: '/v1/ops/halts',
  access: 'session',
  role,
  body: haltBody,
  summary: 'Halt creates or quotes',
  description:
    'Before the answer, the halt is durable, and every owner that can be asked applies it. Voids nothing; withdrawing and cancelling go on. Takes no idempotency key: a halt in force by the same operator in the same words is not imposed twice.',
  answers: {
    200: { description: 'It is already in force, from an earlier call in the same words.', body: halt },
    201: { description: 'It is in force.', body: halt },
  },
  statuses: { 400: ['invalid_request'] },
});

export const liftHalt = endpoint({
  operationId: 'liftHalt',
  method: 'DELETE',
  path: '/v1/ops/halts/:haltID',
  access: 'session',
  role,
  ids: { haltID },
  summary: 'Lift a halt',
  answers: { 204: { description: 'It is no longer in force.' } },
  statuses: { 404: ['not_found'] },
});

export const voidAuction = endpoint({
  operationId: 'voidAuction',
  method: 'POST',
  path: '/v1/ops/auctions/:auctionID/void',
  access: 'session',
  role,
  ids: { auctionID },
  body: voidBody,
  summary: 'Void an open auction',
  description:
    'Releases every quote and reservation. Participants learn that an operator did it, but not which one.',
  answers: { 200: { description: 'It is void, from this call or an earlier one.', body: voided } },
  statuses: {
    400: ['invalid_request'],
    404: ['auction_not_found'],
    422: ['AUCTION_NOT_OPEN'],
    503: OWNER_FAULTS,
  },
});

export const listOperatorActions = endpoint({
  operationId: 'listOperatorActions',
  method: 'GET',
  path: '/v1/ops/actions',
  access: 'session',
  role,
  query: query('invalid_list_page', {
    limit: integerParam(1, MAX_PAGE, MAX_PAGE),
    cursor: actionCursor.param,
  }),
  summary: "The log of operators' actions, newest first",
  description: 'An order to an owner has two entries: one before the owner is asked, one with the outcome.',
  answers: { 200: { description: 'A page.', body: actionPage } },
});

export const getServiceLimits = endpoint({
  operationId: 'getServiceLimits',
  method: 'GET',
  path: '/v1/ops/limits',
  access: 'session',
  role,
  summary: 'Buckets and bounds that hold for every account',
  answers: { 200: { description: 'All of them.', body: serviceLimits } },
});

export const getAccountLimits = endpoint({
  operationId: 'getAccountLimits',
  method: 'GET',
  path: '/v1/ops/accounts/:accountID/limits',
  access: 'session',
  role,
  ids: { accountID },
  summary: 'What one account may do, and what is left in its buckets',
  answers: { 200: { description: 'The account.', body: accountLimits } },
  statuses: { 404: ['not_found'], 503: OWNER_FAULTS },
});
