import type { Tag } from '#libs/edge/documents/openapi-types.js';
import { openApiDocument } from '#libs/edge/documents/openapi.js';
import type { OpenApi } from '#libs/edge/documents/openapi-types.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { API_VERSION, executionDialect } from '../dialect.js';

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

/** The document describes refusals, and asks nobody who calls. */
const DESCRIBED = executionDialect({
  authenticate: () => ({ ok: false, refusal: { status: 401, error: 'Authentication required' } }),
});

export function executionDocument(specs: readonly EndpointSpec[]): OpenApi {
  return openApiDocument(specs, {
    dialect: DESCRIBED,
    title: 'Sotto order execution',
    version: API_VERSION,
    description: INTRODUCTION,
    tags: TAGS,
    tagOf: ({ path }) => tagOf(path),
    codes: {},
    fields: {},
    explained: new Set([400, 404, 409]),
    sessionScheme: 'session',
    examplesOf: () => undefined,
  });
}

function tagOf(path: string): string {
  const found = TAG_OF_PATH.find(([pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`nothing says to which part of the document ${path} belongs`);
  return found[1];
}
