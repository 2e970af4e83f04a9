import { allOrNone, arrayOf, object } from '#libs/edge/decoding/decode.js';
import { anyUuid, atoms, text, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { group, groups, limits, makers, me, protectionOrNone } from './account-shapes.js';

const groupID = anyUuid('invalid_request');
const groupBody = object({
  required: { name: text(), market_maker_ids: arrayOf(uuid) },
});
const protectionBody = allOrNone({
  window_ms: atoms,
  max_awards: atoms,
  max_award_notional_atoms: atoms,
  frozen_ms: atoms,
});
const OUT_OF_RANGE = { 400: ['invalid_request'] };

export const getMe = endpoint({
  operationId: 'getMe',
  method: 'GET',
  path: '/v1/me',
  access: 'session',
  summary: 'Who the caller is and what it may do',
  answers: { 200: { description: 'The caller.', body: me } },
});

export const getLimits = endpoint({
  operationId: 'getLimits',
  method: 'GET',
  path: '/v1/me/limits',
  access: 'session',
  summary: "The caller's token buckets",
  answers: { 200: { description: 'Every bucket, with what is left in those of the account.', body: limits } },
  statuses: { 503: ['auction_owner_unavailable', 'owner_response_invalid'] },
});

export const getProtection = endpoint({
  operationId: 'getProtection',
  method: 'GET',
  path: '/v1/me/protection',
  access: 'session',
  summary: 'Market maker protection; empty while it is not set',
  answers: { 200: { description: 'The settings, if there are any.', body: protectionOrNone } },
});

export const putProtection = endpoint({
  operationId: 'putProtection',
  method: 'PUT',
  path: '/v1/me/protection',
  access: 'session',
  capability: 'auction:quote',
  body: protectionBody,
  summary: 'Set market maker protection, or switch it off with an empty object',
  description:
    'Trips as soon as the awards within any `window_ms` reach either maximum: then active quotes are withdrawn and new ones are refused for `frozen_ms`, on every shard from the moment when the award is counted. An award is counted before it becomes visible, unless the database takes more than half a second to count it. An empty object switches protection off: awards no longer count, and a freeze in force ends at its own time or by a reset.',
  answers: { 200: { description: 'The settings as they now are.', body: protectionOrNone } },
  statuses: OUT_OF_RANGE,
});

export const resetProtection = endpoint({
  operationId: 'resetProtection',
  method: 'POST',
  path: '/v1/me/protection/reset',
  access: 'session',
  capability: 'auction:quote',
  summary: 'End a freeze',
  answers: { 200: { description: 'The settings, if there are any.', body: protectionOrNone } },
});

export const listMarketMakers = endpoint({
  operationId: 'listMarketMakers',
  method: 'GET',
  path: '/v1/market-makers',
  access: 'session',
  requiredRole: 'ORIGINATOR',
  summary: 'Makers that may be invited',
  answers: { 200: { description: 'All of them.', body: makers } },
});

export const listGroups = endpoint({
  operationId: 'listGroups',
  method: 'GET',
  path: '/v1/groups',
  access: 'session',
  requiredRole: 'ORIGINATOR',
  summary: "The caller's own groups of makers",
  answers: { 200: { description: 'All of them.', body: groups } },
});

export const createGroup = endpoint({
  operationId: 'createGroup',
  method: 'POST',
  path: '/v1/groups',
  access: 'session',
  capability: 'auction:create',
  requiredRole: 'ORIGINATOR',
  body: groupBody,
  summary: 'Name a group of makers',
  answers: { 201: { description: 'The group and its id.', body: group } },
  statuses: OUT_OF_RANGE,
});

export const replaceGroup = endpoint({
  operationId: 'replaceGroup',
  method: 'PUT',
  path: '/v1/groups/:groupID',
  access: 'session',
  capability: 'auction:create',
  requiredRole: 'ORIGINATOR',
  ids: { groupID },
  body: groupBody,
  summary: 'Rename a group or change who is in it',
  answers: { 200: { description: 'The group as it now is.', body: group } },
  statuses: { ...OUT_OF_RANGE, 404: ['not_found'] },
});

export const removeGroup = endpoint({
  operationId: 'removeGroup',
  method: 'DELETE',
  path: '/v1/groups/:groupID',
  access: 'session',
  capability: 'auction:create',
  requiredRole: 'ORIGINATOR',
  ids: { groupID },
  summary: 'Delete a group; auctions that used it do not change',
  answers: { 204: { description: 'Deleted.' } },
  statuses: { 404: ['not_found'] },
});
