import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import type { Manners } from '#libs/edge/documents/manners.js';
import type { Content, Parameter } from '#libs/edge/documents/openapi-types.js';
import { anyText, optional, type Shape } from '#libs/edge/documents/shapes.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { API_VERSION } from '../dialect.js';
import { NO_BODY, PLAIN_TEXT } from '../refusals.js';

const BARE: JsonSchema = {
  type: 'object',
  description: 'Refusals before the check of scopes, and unknown paths.',
  properties: { error: { type: 'string' } },
  required: ['error'],
  additionalProperties: false,
};

const ENVELOPE: JsonSchema = {
  type: 'object',
  description: 'Refusals by the check of scopes and all later checks.',
  properties: {
    error: { type: 'string' },
    code: { type: 'string' },
    error_details: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        details: { type: 'object' },
        metadata: {
          type: 'object',
          properties: {
            classification: {
              type: 'string',
              enum: ['expected_user_rejection', 'retryable', 'non_retryable'],
            },
          },
          required: ['classification'],
          additionalProperties: false,
        },
      },
      required: ['code', 'metadata'],
      additionalProperties: false,
    },
  },
  required: ['error', 'code', 'error_details'],
  additionalProperties: false,
};

const KEY_HEADERS = { clientId: 'X-Client-Id', apiKey: 'X-Api-Key', apiSecret: 'X-Api-Secret' } as const;
const COOKIE = 'custody_session_jwt';
const digits: Shape = { describe: () => ({ type: 'string', pattern: '^[0-9]+$' }) };
const RATE = {
  'x-ratelimit-limit': optional(digits),
  'x-ratelimit-remaining': optional(digits),
  'x-ratelimit-reset': optional(digits),
};
const DEPRECATED = { deprecation: optional(anyText), sunset: optional(anyText) };
const BY_STATUS: Readonly<Record<number, Readonly<Record<string, Shape>>>> = {
  405: { allow: { describe: () => ({ type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' }) } },
  429: { 'retry-after': optional(digits) },
  503: { 'retry-after': optional(digits) },
};
/** These calls count against the limit of orders, and their replies show how much of it is left. */
const COUNTED = new Set(['submitOrder', 'amendOrder']);

const REAUTH: Parameter = {
  name: 'X-Reauth',
  in: 'header',
  required: true,
  description: 'The password of the user.',
  schema: { type: 'string' },
};

const KEY = Object.fromEntries(Object.keys(KEY_HEADERS).map((name) => [name, []]));
const SESSIONS = [{ session: [] }, { cookie: [] }];

/** The conventions of order execution: two forms of refusals, keys as well as sessions, and its own headers. */
export const EXECUTION_MANNERS: Manners = {
  schemas: { Error: BARE, Refusal: ENVELOPE },
  headers: {
    'x-api-version': {
      required: true,
      description: 'The version of this interface.',
      schema: { type: 'string', const: API_VERSION },
    },
  },
  securitySchemes: {
    cookie: { type: 'apiKey', in: 'cookie', name: COOKIE },
    ...Object.fromEntries(
      Object.entries(KEY_HEADERS).map(([scheme, name]) => [scheme, { type: 'apiKey', in: 'header', name }]),
    ),
  },
  descriptions: {
    Unauthorized: 'No credentials, an incomplete triple, or invalid credentials. May come for every path.',
    NoSuchPath: 'There is no such path.',
    Unavailable:
      'Too many requests wait on one connection, which is closed, or credentials or the database are unavailable.',
  },
  contentOf,
  headersOf: (status, spec) => ({
    ...BY_STATUS[status],
    ...DEPRECATED,
    ...(spec !== undefined && COUNTED.has(spec.operationId) ? RATE : {}),
  }),
  securityOf({ access, sessionOnly }) {
    if (access === 'public') return [];
    return sessionOnly === true ? SESSIONS : [KEY, ...SESSIONS];
  },
  parametersOf: ({ path }: EndpointSpec) => (path.startsWith('/account/api-keys') ? [REAUTH] : []),
};

function contentOf(codes: readonly string[]): Content | undefined {
  const named = codes.filter((code) => !code.startsWith('HTTP_') && code !== NO_BODY && code !== PLAIN_TEXT);
  const forms: JsonSchema[] = [
    ...(named.length > 0 ? [envelopeOf(named)] : []),
    ...(codes.some((code) => code.startsWith('HTTP_')) ? [{ $ref: '#/components/schemas/Error' }] : []),
  ];
  const [first] = forms;
  const content: Content = {
    ...(first === undefined
      ? {}
      : { 'application/json': { schema: forms.length > 1 ? { oneOf: forms } : first } }),
    ...(codes.includes(PLAIN_TEXT) ? { 'text/plain': { schema: anyText.describe() } } : {}),
  };
  return Object.keys(content).length === 0 ? undefined : content;
}

function envelopeOf(codes: readonly string[]): JsonSchema {
  return {
    $ref: '#/components/schemas/Refusal',
    type: 'object',
    properties: {
      error_details: { type: 'object', properties: { code: { type: 'string', enum: codes } } },
    },
  };
}
