import { object } from '#libs/edge/decode.js';
import { text } from '#libs/edge/decode-scalars.js';
import { endpoint } from '#libs/edge/endpoint.js';

const MAX_TEXT = 1_024;
const UNAVAILABLE = { 503: ['owner_routing_unavailable'] };

export const login = endpoint({
  operationId: 'login',
  method: 'POST',
  path: '/auth/login',
  access: 'public',
  body: object({
    required: { email: text({ maxLength: MAX_TEXT }), password: text({ maxLength: MAX_TEXT }) },
  }),
  summary: 'Exchange an e-mail address and a password for a session token',
  statuses: {
    200: [],
    400: ['invalid_json', 'multiple_json_values'],
    401: ['unauthorized'],
    429: ['login_rate_limited'],
    ...UNAVAILABLE,
  },
});

export const refresh = endpoint({
  operationId: 'refresh',
  method: 'POST',
  path: '/auth/refresh',
  access: 'public',
  summary: 'Another token of the same session, up to four hours after the end of this one',
  statuses: { 200: [], 401: ['unauthorized'], ...UNAVAILABLE },
});

export const logout = endpoint({
  operationId: 'logout',
  method: 'POST',
  path: '/auth/logout',
  access: 'public',
  summary: 'End this token',
  statuses: { 204: [], 401: ['unauthorized'], ...UNAVAILABLE },
});

export const logoutAll = endpoint({
  operationId: 'logoutAll',
  method: 'POST',
  path: '/auth/logout-all',
  access: 'public',
  summary: 'End every token of this session',
  statuses: { 204: [], 401: ['unauthorized'], ...UNAVAILABLE },
});

export const jwks = endpoint({
  operationId: 'jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  access: 'public',
  summary: 'The public keys of session tokens',
  statuses: { 200: [], ...UNAVAILABLE },
});
