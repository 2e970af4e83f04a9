import { arrayOf, object } from '#libs/edge/decode.js';
import { atoms, text, uuid } from '#libs/edge/decode-scalars.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { anyUuid } from '#libs/edge/path-ids.js';

const groupID = anyUuid('invalid_request');
const groupBody = object({
  required: { name: text({ printable: true }), market_maker_ids: arrayOf(uuid) },
});
const protectionBody = object({
  required: { window_ms: atoms, max_awards: atoms, max_award_notional_atoms: atoms, frozen_ms: atoms },
});
const BODY_FAULTS = ['invalid_json', 'multiple_json_values', 'invalid_request'];
const UNAVAILABLE = { 503: ['owner_routing_unavailable'] };

export const getMe = endpoint({
  operationId: 'getMe',
  method: 'GET',
  path: '/v1/me',
  access: 'session',
  summary: 'Who the caller is and what it may do',
  statuses: { 200: [], ...UNAVAILABLE },
});

export const getLimits = endpoint({
  operationId: 'getLimits',
  method: 'GET',
  path: '/v1/me/limits',
  access: 'session',
  summary: "The caller's token buckets",
  statuses: { 200: [], 503: ['auction_owner_unavailable', 'owner_routing_unavailable'] },
});

export const getProtection = endpoint({
  operationId: 'getProtection',
  method: 'GET',
  path: '/v1/me/protection',
  access: 'session',
  summary: 'Market maker protection; empty while it is not set',
  statuses: { 200: [], ...UNAVAILABLE },
});

export const putProtection = endpoint({
  operationId: 'putProtection',
  method: 'PUT',
  path: '/v1/me/protection',
  access: 'session',
  capability: 'auction:quote',
  body: protectionBody,
  summary: 'Set market maker protection',
  statuses: { 200: [], 400: BODY_FAULTS, ...UNAVAILABLE },
});

export const resetProtection = endpoint({
  operationId: 'resetProtection',
  method: 'POST',
  path: '/v1/me/protection/reset',
  access: 'session',
  capability: 'auction:quote',
  summary: 'End a freeze',
  statuses: { 200: [], ...UNAVAILABLE },
});

export const listMarketMakers = endpoint({
  operationId: 'listMarketMakers',
  method: 'GET',
  path: '/v1/market-makers',
  access: 'session',
  capability: 'auction:create',
  summary: 'Makers that may be invited',
  statuses: { 200: [], ...UNAVAILABLE },
});

export const listGroups = endpoint({
  operationId: 'listGroups',
  method: 'GET',
  path: '/v1/groups',
  access: 'session',
  capability: 'auction:create',
  summary: "The caller's own groups of makers",
  statuses: { 200: [], ...UNAVAILABLE },
});

export const createGroup = endpoint({
  operationId: 'createGroup',
  method: 'POST',
  path: '/v1/groups',
  access: 'session',
  capability: 'auction:create',
  body: groupBody,
  summary: 'Name a group of makers',
  statuses: { 201: [], 400: BODY_FAULTS, ...UNAVAILABLE },
});

export const replaceGroup = endpoint({
  operationId: 'replaceGroup',
  method: 'PUT',
  path: '/v1/groups/:groupID',
  access: 'session',
  capability: 'auction:create',
  ids: { groupID },
  body: groupBody,
  summary: 'Rename a group or change who is in it',
  statuses: { 200: [], 400: BODY_FAULTS, 404: ['not_found'], ...UNAVAILABLE },
});

export const removeGroup = endpoint({
  operationId: 'removeGroup',
  method: 'DELETE',
  path: '/v1/groups/:groupID',
  access: 'session',
  capability: 'auction:create',
  ids: { groupID },
  summary: 'Forget a group; auctions that used it are frozen and do not change',
  statuses: { 204: [], 400: ['invalid_request'], 404: ['not_found'], ...UNAVAILABLE },
});
