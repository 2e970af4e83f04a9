import { endpoint, type IdKind } from '#libs/edge/endpoint.js';
import { isClientId } from '#libs/identity/api-keys/key-triple.js';
import { keyChangeBody, newKeyBody, rotationBody } from './account-bodies.js';
import { apiKey, apiKeys, issuedKey, limits, rotatedKey, scopes } from './account-shapes.js';

const client_id: IdKind = {
  fault: 'VALIDATION_INVALID_ID',
  accepts: isClientId,
  describe: () => ({ type: 'string', pattern: '^sotto_ck_[0-9a-f]{24}$' }),
};

const KEY_PATH = '/account/api-keys/:client_id';

export const getScopes = endpoint({
  operationId: 'getAccountScopes',
  method: 'GET',
  path: '/account/scopes',
  access: 'session',
  summary: 'The rights of these credentials, and the venues where they can trade',
  answers: { 200: { description: 'The credentials.', body: scopes } },
  statuses: { 429: ['RATE_LIMITED_CALLS'], 503: ['CELL_UNAVAILABLE'] },
});

export const getLimits = endpoint({
  operationId: 'getAccountLimits',
  method: 'GET',
  path: '/account/limits',
  access: 'session',
  summary: 'All rate limits, and how much of each is left',
  answers: { 200: { description: 'The limits.', body: limits } },
  statuses: { 503: ['CELL_UNAVAILABLE'] },
});

export const listApiKeys = endpoint({
  operationId: 'listApiKeys',
  method: 'GET',
  path: '/account/api-keys',
  access: 'session',
  sessionOnly: true,
  summary: 'List all API keys of the user. For sessions, with the password in `X-Reauth`',
  answers: { 200: { description: 'The keys, without their secrets.', body: apiKeys } },
});

export const createApiKey = endpoint({
  operationId: 'createApiKey',
  method: 'POST',
  path: '/account/api-keys',
  access: 'session',
  sessionOnly: true,
  body: newKeyBody,
  summary: 'Create an API key. For sessions, with the password in `X-Reauth`',
  answers: {
    201: { description: 'The key and its secrets, which are shown only this once.', body: issuedKey },
  },
  statuses: { 409: ['API_KEY_LIMIT'] },
});

export const changeApiKey = endpoint({
  operationId: 'changeApiKey',
  method: 'PATCH',
  path: KEY_PATH,
  access: 'session',
  sessionOnly: true,
  ids: { client_id },
  body: keyChangeBody,
  summary: 'Change an API key. Null removes a field. For sessions, with the password in `X-Reauth`',
  answers: { 200: { description: 'The changed key.', body: apiKey } },
  statuses: { 404: ['HTTP_404'] },
});

export const revokeApiKey = endpoint({
  operationId: 'revokeApiKey',
  method: 'DELETE',
  path: KEY_PATH,
  access: 'session',
  sessionOnly: true,
  ids: { client_id },
  summary: 'Revoke an API key permanently. For sessions, with the password in `X-Reauth`',
  answers: { 204: { description: 'The key is revoked.' } },
  statuses: { 404: ['HTTP_404'] },
});

export const rotateApiKey = endpoint({
  operationId: 'rotateApiKey',
  method: 'POST',
  path: `${KEY_PATH}/rotate`,
  access: 'session',
  sessionOnly: true,
  ids: { client_id },
  body: rotationBody,
  summary:
    'Give an API key new secrets. The old ones stay valid for a time. For sessions, with the password in `X-Reauth`',
  answers: {
    200: { description: 'The key and its new secrets, which are shown only this once.', body: rotatedKey },
  },
  statuses: { 404: ['HTTP_404'] },
});
