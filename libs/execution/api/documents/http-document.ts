import type { Tag } from '#libs/edge/documents/openapi-types.js';
import { openApiDocument } from '#libs/edge/documents/openapi.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { API_VERSION, BARE_SCOPE, executionDialect } from '../dialect.js';
import { CODE_MEANINGS } from './code-meanings.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import { EXECUTION_MANNERS } from './http-manners.js';

const INTRODUCTION = `Orders of prediction-market contracts at several venues, under one interface.

JSON in UTF-8, one object, at most 64 levels and 256 KiB. Numbers are read exactly; prices, sizes and amounts come back as decimal
strings. A null is an absent field; unknown and repeated fields are refused. Callers show an API key as \`X-Client-Id\`, \`X-Api-Key\`
and \`X-Api-Secret\` together, or a session as a bearer token. Refusals from the check of scopes on are
\`{error, code, error_details: {code, details?, metadata: {classification}}}\`; the classification alone says whether to try again.`;

const TAGS: readonly Tag[] = [
  { name: 'Orders', description: 'Submit, read, change and cancel orders.' },
  { name: 'Exchanges', description: 'The venues, what they can do, and the account at them.' },
  { name: 'Positions', description: 'What is held, and what of it may be sold.' },
  { name: 'Account', description: 'Credentials, limits and keys.' },
  { name: 'RPC', description: 'Balances, the ledger, markets, transfers, and what operators do.' },
  { name: 'Combos', description: 'Of venues that are not registered.' },
  { name: 'Health', description: 'Of the service.' },
];

const TAG_OF_PATH: readonly (readonly [RegExp, string])[] = [
  [/^\/orders/, 'Orders'],
  [/^\/exchanges/, 'Exchanges'],
  [/^\/positions\//, 'Positions'],
  [/^\/account\//, 'Account'],
  [/^\/rpc\//, 'RPC'],
  [/^\/combo\//, 'Combos'],
  [/^\/health$/, 'Health'],
];

const SERVERS = [
  {
    url: 'http://127.0.0.1:8090',
    description: 'What `npm start` starts; elsewhere what `execution_url` says',
  },
];

/** The document describes refusals, and asks nobody who calls. */
const DESCRIBED = executionDialect({
  authenticate: () => ({ ok: false, refusal: { status: 401, error: 'Authentication required' } }),
});

export function executionDocument(specs: readonly EndpointSpec[]): OpenApi {
  const document = openApiDocument(specs.map(withCommon), {
    dialect: DESCRIBED,
    title: 'Sotto order execution',
    version: API_VERSION,
    description: INTRODUCTION,
    tags: TAGS,
    tagOf: ({ path }) => tagOf(path),
    codes: CODE_MEANINGS,
    fields: FIELD_MEANINGS,
    explained: new Set(),
    sessionScheme: 'session',
    manners: EXECUTION_MANNERS,
    examplesOf: () => undefined,
  });
  return { ...withAnyCaller(document), servers: SERVERS };
}

/** What credentials may be refused with before there is a path: these belong to no operation. */
const OF_ANY_CALLER: readonly (readonly [number, string, string])[] = [
  [403, 'NotFromHere', 'A key that may not be used from this address.'],
  [429, 'TooManyFailures', 'Too many failed authentications from this address.'],
];

function withAnyCaller(document: OpenApi): OpenApi {
  const { components, 'x-any-path': anyPath } = document;
  const { Unauthorized: alike } = components.responses;
  if (alike === undefined) throw new Error('the document says nothing of credentials');
  return {
    ...document,
    components: {
      ...components,
      responses: {
        ...components.responses,
        ...Object.fromEntries(
          OF_ANY_CALLER.map(([, name, description]) => [name, { ...alike, description }]),
        ),
      },
    },
    'x-any-path': {
      ...anyPath,
      ...Object.fromEntries(
        OF_ANY_CALLER.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
      ),
    },
  };
}

/** What any call may be answered that wants credentials, a scope or a body. */
function withCommon(spec: EndpointSpec): EndpointSpec {
  const { access, capability, path, body, statuses = {} } = spec;
  if (access === 'public') return spec;
  const isTold = capability !== undefined && !BARE_SCOPE.test(path);
  const common: Readonly<Record<number, readonly string[]>> = {
    ...(body === undefined ? {} : { 400: ['VALIDATION_UNKNOWN_FIELD', 'VALIDATION_INVALID_PARAMETER'] }),
    403: ['HTTP_403', ...(isTold ? ['AUTH_INSUFFICIENT_SCOPE'] : [])],
    429: ['HTTP_429'],
  };
  const all = new Set([...Object.keys(common), ...Object.keys(statuses)].map(Number));
  const merged = [...all].map((status): [number, readonly string[]] => [
    status,
    [...new Set([...(statuses[status] ?? []), ...(common[status] ?? [])])],
  ]);
  return { ...spec, statuses: Object.fromEntries(merged) };
}

function tagOf(path: string): string {
  const found = TAG_OF_PATH.find(([pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`nothing says to which part of the document ${path} belongs`);
  return found[1];
}
