import { endpoint } from '#libs/edge/endpoint.js';
import { integerParam, query } from '#libs/edge/decoding/query.js';
import { auctionCursor, auctionID } from '../auctions/auction-endpoints.js';
import { auditedAuction, auditKeys, auditPage, replayBundle } from './audit-shapes.js';

const MAX_PAGE = 50;
const RECORDED =
  'Every read is recorded before it is answered; a read that cannot be recorded is not answered.';
const READ_FAULTS = ['completed_projection_unavailable', 'audit_record_unavailable'];
const HISTORY_FAULTS = ['audit_timeline_incomplete', ...READ_FAULTS];

export const listAudited = endpoint({
  operationId: 'listAuditedAuctions',
  method: 'GET',
  path: '/v1/audit/auctions',
  access: 'session',
  role: 'AUDITOR',
  query: query('invalid_list_page', {
    limit: integerParam(1, MAX_PAGE, MAX_PAGE),
    cursor: auctionCursor.param,
  }),
  summary: 'All completed auctions, newest first',
  description: `Ordered by \`opened_at\`, then \`auction_id\`, both descending. ${RECORDED}`,
  answers: { 200: { description: 'A page.', body: auditPage } },
  statuses: { 503: READ_FAULTS },
});

export const getAudited = endpoint({
  operationId: 'getAuditedAuction',
  method: 'GET',
  path: '/v1/audit/auctions/:auctionID',
  access: 'session',
  role: 'AUDITOR',
  ids: { auctionID },
  summary: 'A completed auction as the journal has it, under pseudonyms',
  description: `An auction that is not completed is not found. ${RECORDED}`,
  answers: {
    200: { description: 'Terms, every event, and the ranking with its reasons.', body: auditedAuction },
  },
  statuses: { 404: ['auction_not_found'], 503: HISTORY_FAULTS },
});

export const getBundle = endpoint({
  operationId: 'getReplayBundle',
  method: 'GET',
  path: '/v1/audit/auctions/:auctionID/bundle',
  access: 'session',
  role: 'AUDITOR',
  ids: { auctionID },
  summary: 'A completed auction, hashed and signed, to be recomputed offline',
  description: `\`npm run replay -- bundle.json\` recomputes winners, ranking and reasons, and reports what was altered. The bundle of an auction is always the same. ${RECORDED}`,
  answers: { 200: { description: 'The bundle.', body: replayBundle } },
  statuses: { 404: ['auction_not_found'], 503: HISTORY_FAULTS },
});

export const getAuditKeys = endpoint({
  operationId: 'getAuditKeys',
  method: 'GET',
  path: '/.well-known/audit-keys.json',
  access: 'public',
  summary: 'Public keys of the signatures on replay bundles, as JWKs',
  answers: { 200: { description: 'The key set.', body: auditKeys } },
});
