import type { JsonSchema } from '#libs/edge/decoding/decode.js';
import type { Manners } from '#libs/edge/documents/manners.js';
import type { Content } from '#libs/edge/documents/openapi-types.js';
import { anyText, constant, optional, type Shape } from '#libs/edge/documents/shapes.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { ADMIN } from '../callers.js';
import { DATA_VERSION } from '../dialect.js';

const DETAIL: JsonSchema = {
  type: 'object',
  description: 'Why a call was refused.',
  properties: { detail: { type: 'string' } },
  required: ['detail'],
  additionalProperties: false,
};

const OVER_LIMIT: JsonSchema = {
  type: 'object',
  description: 'Too many calls: `Rate limit exceeded: <calls> per 1 minute`.',
  properties: { error: { type: 'string' } },
  required: ['error'],
  additionalProperties: false,
};

const UNREADABLE: JsonSchema = {
  type: 'object',
  description: 'The parts of the request that cannot be read.',
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          type: { type: 'string' },
          loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
          msg: { type: 'string' },
          input: {},
        },
        required: ['type', 'loc', 'msg', 'input'],
        additionalProperties: false,
      },
    },
  },
  required: ['detail'],
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
const FRESHNESS = { 'x-data-as-of': optional(anyText), 'x-data-stale': optional(constant('true')) };
/** Replies from the store have the headers of freshness. */
const FROM_THE_STORE = /^\/(?:markets\/(?!tick-size)|candles|trades\/(?:history|metrics)|v1\/)/;
const HEADERS_BY_STATUS: Readonly<Record<number, Readonly<Record<string, Shape>>>> = {
  401: { 'www-authenticate': constant('Bearer') },
  405: { allow: { describe: () => ({ type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' }) } },
  429: { 'retry-after': optional(digits) },
};

const KEY = Object.fromEntries(Object.keys(KEY_HEADERS).map((name) => [name, []]));

/** Stands for a refusal by the call limit. */
export const LIMIT_CODE = 'Rate limit exceeded: <calls> per 1 minute';
/** Stands for every refusal with 422. */
export const UNREADABLE_CODE = 'HTTP_422';

/** How the API of market data differs from the others: details in words, several kinds of callers, and freshness headers. */
export const DATA_MANNERS: Manners = {
  schemas: { Detail: DETAIL, OverLimit: OVER_LIMIT, Unreadable: UNREADABLE },
  headers: {
    'x-data-version': {
      required: true,
      description: 'The version of this interface.',
      schema: { type: 'string', const: DATA_VERSION },
    },
  },
  securitySchemes: {
    cookie: { type: 'apiKey', in: 'cookie', name: COOKIE },
    adminSecret: { type: 'apiKey', in: 'header', name: 'X-Admin-Secret' },
    ...Object.fromEntries(
      Object.entries(KEY_HEADERS).map(([scheme, name]) => [scheme, { type: 'apiKey', in: 'header', name }]),
    ),
  },
  descriptions: {
    BadRequest: 'The peer does not speak HTTP properly or names no host. The connection is closed.',
    Unauthorized: 'No credential, an incomplete API key, or a credential that is not valid.',
    NoSuchPath: 'There is no such path, or none for this caller.',
    Unavailable:
      'Too many requests are queued on one connection, which is closed; or the database or credentials cannot be checked.',
  },
  contentOf,
  headersOf: (status, spec) => ({
    ...(isLimited(spec) ? RATE : {}),
    ...(spec !== undefined && status < 400 && FROM_THE_STORE.test(spec.path) ? FRESHNESS : {}),
    ...HEADERS_BY_STATUS[status],
  }),
  securityOf({ role }) {
    if (role === ADMIN) return [{ adminSecret: [] }];
    return [KEY, { session: [] }, { cookie: [] }, { adminSecret: [] }];
  },
  parametersOf: () => [],
};

const UNLIMITED = /^\/(?:health|readyz|openapi\.json|docs|markets\/tick-size)$/;

/** Whether calls of this endpoint count against a limit. */
export function isLimited(spec: EndpointSpec | undefined): boolean {
  return spec !== undefined && spec.role !== ADMIN && !UNLIMITED.test(spec.path);
}

function contentOf(codes: readonly string[]): Content {
  const names = [
    ...(codes.includes(LIMIT_CODE) ? ['OverLimit'] : []),
    ...(codes.includes(UNREADABLE_CODE) ? ['Unreadable'] : []),
    ...(codes.some((code) => code !== LIMIT_CODE && code !== UNREADABLE_CODE) ? ['Detail'] : []),
  ];
  const forms = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const [first = {}] = forms;
  return { 'application/json': { schema: forms.length > 1 ? { oneOf: forms } : first } };
}
