import type { Tag } from '#libs/edge/documents/openapi-types.js';
import { openApiDocument } from '#libs/edge/documents/openapi.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { API_VERSION, BARE_SCOPE, executionDialect } from '../dialect.js';
import { CODE_MEANINGS } from './code-meanings.js';
import { FIELD_MEANINGS } from './field-meanings.js';
import { EXECUTION_MANNERS } from './http-manners.js';

const INTRODUCTION = `Orders for prediction-market contracts at several venues, through one interface.

Bodies are one JSON object in UTF-8, with at most 64 levels and 256 KiB. Numbers are exact. Replies have prices and amounts as decimal
strings. Null counts as an absent field. Unknown and repeated fields are refused. Callers show an API key as \`X-Client-Id\`, \`X-Api-Key\`
and \`X-Api-Secret\` together, or a session as a bearer token. Refusals by the check of scopes and all later checks have the form
\`{error, code, error_details: {code, details?, metadata: {classification}}}\`. Only the classification says whether to try again.`;

const TAGS: readonly Tag[] = [
  { name: 'Orders', description: 'Submit, read, change and cancel orders.' },
  { name: 'Exchanges', description: "The venues, their capabilities, and the caller's accounts there." },
  { name: 'Positions', description: 'Positions, and how much of them may be sold.' },
  { name: 'Account', description: 'Credentials, limits and keys.' },
  { name: 'RPC', description: 'Balances, the ledger, markets, transfers, and calls for operators.' },
  { name: 'Combos', description: 'Calls for venues that are not registered.' },
  { name: 'Health', description: 'Whether the service answers.' },
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
    description: 'The address after `npm start`. On other installations, see `execution_url`',
  },
];

/** The document only describes refusals, so it needs no authentication. */
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

/** Refusals of credentials that come before the path is known, so they belong to no operation. */
const OF_ANY_CALLER: readonly (readonly [number, string, string])[] = [
  [403, 'NotFromHere', 'A key that may not be used from this address.'],
  [429, 'TooManyFailures', 'Too many failed authentications from this address.'],
];

function withAnyCaller(document: OpenApi): OpenApi {
  const { components, 'x-any-path': anyPath } = document;
  const { Unauthorized: alike } = components.responses;
  if (alike === undefined) throw new Error('the document has no response for missing credentials');
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

/** Adds the refusals of every call that needs credentials, a scope or a body. */
function withCommon(spec: EndpointSpec): EndpointSpec {
  const { access, capability, path, body, statuses = {} } = spec;
  if (access === 'public') return spec;
  const isNamed = capability !== undefined && !BARE_SCOPE.test(path);
  const common: Readonly<Record<number, readonly string[]>> = {
    ...(body === undefined ? {} : { 400: ['VALIDATION_UNKNOWN_FIELD', 'VALIDATION_INVALID_PARAMETER'] }),
    403: ['HTTP_403', ...(isNamed ? ['AUTH_INSUFFICIENT_SCOPE'] : [])],
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
  if (found === undefined) throw new Error(`no tag is defined for the path ${path}`);
  return found[1];
}
