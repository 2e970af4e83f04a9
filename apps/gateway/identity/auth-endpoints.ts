import { object } from '#libs/edge/decoding/decode.js';
import { text } from '#libs/edge/decoding/decode-scalars.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { cookie, keySet, session } from './auth-shapes.js';

const MAX_TEXT = 1_024;
const UNAVAILABLE = { 503: ['owner_routing_unavailable'] };
const REFUSED = { 401: ['unauthorized'], ...UNAVAILABLE };

export const login = endpoint({
  operationId: 'login',
  method: 'POST',
  path: '/auth/login',
  access: 'public',
  body: object({
    required: { email: text({ maxLength: MAX_TEXT }), password: text({ maxLength: MAX_TEXT }) },
  }),
  summary: 'Exchange an e-mail address and a password for a session token',
  answers: { 200: { description: 'A session token and its end.', body: session, headers: cookie } },
  statuses: { ...REFUSED, 429: ['login_rate_limited'] },
});

export const refresh = endpoint({
  operationId: 'refresh',
  method: 'POST',
  path: '/auth/refresh',
  access: 'public',
  summary: 'Another token of the same session, up to four hours after the end of this one',
  checksToken: true,
  answers: {
    200: {
      description: 'The new token; the old one stays valid until its end.',
      body: session,
      headers: cookie,
    },
  },
  statuses: REFUSED,
});

export const logout = endpoint({
  operationId: 'logout',
  method: 'POST',
  path: '/auth/logout',
  access: 'public',
  summary: 'End this token',
  checksToken: true,
  answers: { 204: { description: 'Ended.', headers: cookie } },
  statuses: REFUSED,
});

export const logoutAll = endpoint({
  operationId: 'logoutAll',
  method: 'POST',
  path: '/auth/logout-all',
  access: 'public',
  summary: 'End every token of this session',
  checksToken: true,
  answers: { 204: { description: 'Ended.', headers: cookie } },
  statuses: REFUSED,
});

export const jwks = endpoint({
  operationId: 'jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  access: 'public',
  summary: 'The public keys of session tokens',
  answers: { 200: { description: 'A JSON Web Key Set.', body: keySet } },
  statuses: UNAVAILABLE,
});
