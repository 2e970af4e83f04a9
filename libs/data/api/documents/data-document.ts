import type { OpenApi, Tag } from '#libs/edge/documents/openapi-types.js';
import { openApiDocument } from '#libs/edge/documents/openapi.js';
import { constant, type Shape } from '#libs/edge/documents/shapes.js';
import { endpointSpecsOf } from '#libs/edge/endpoint-decorator.js';
import type { EndpointSpec } from '#libs/edge/endpoint.js';
import { DataAdminController } from '../admin/admin.controller.js';
import { ADMIN } from '../callers.js';
import { CandlesController, CompanionCandlesController } from '../candles/candles.controller.js';
import { CompanionListsController } from '../companion/companion-lists.controller.js';
import { CompanionController } from '../companion/companion.controller.js';
import { DATA_VERSION, dataDialect } from '../dialect.js';
import { DataHealthController } from '../health.controller.js';
import { MarketsController } from '../markets/markets.controller.js';
import { ProvidersController } from '../providers/providers.controller.js';
import { weakTag } from '../reply-shapes.js';
import { TradesController } from '../trades/trades.controller.js';
import { VenueTradesController } from '../venue-trades/venue-trades.controller.js';
import { DATA_MANNERS, isLimited, LIMIT_CODE, UNREADABLE_CODE } from './data-manners.js';
import { DETAIL_MEANINGS, FIELD_MEANINGS } from './data-meanings.js';
import { dataDocs, dataOpenApi } from './document-endpoints.js';

const INTRODUCTION = `Markets of prediction venues with their prices and trades, under one interface.

Provider names ignore case. A market id, condition id or token id is accepted wherever an id is needed. Prices are
0 to 1 or cents, as each field says. Money is dollars, sizes are contracts, times are ISO 8601 in UTC. Unknown parameters and fields
are ignored. Refusals have \`{detail}\` in words. A request that cannot be read gets 422 with the location of each fault, and too many calls get 429 with
\`{error}\`. Replies from our store tell in \`X-Data-As-Of\` up to when data are applied, and have \`X-Data-Stale: true\` if that is too old.`;

const TAGS: readonly Tag[] = [
  { name: 'Providers', description: 'The providers of market data, and what they support.' },
  { name: 'Markets', description: 'Markets and their prices.' },
  { name: 'Candles', description: 'Prices and volumes by time.' },
  { name: 'Trades', description: 'Trades from our store, and live from two venues.' },
  { name: 'Companion', description: 'Needs no credentials; with credentials the limits are higher.' },
  {
    name: 'Operators',
    description: 'For the admin secret only; for all other callers these paths do not exist.',
  },
  { name: 'Service', description: 'The service itself.' },
];

const TAG_OF_PATH: readonly (readonly [RegExp, string])[] = [
  [/^\/providers\//, 'Providers'],
  [/^\/markets\//, 'Markets'],
  [/^\/candles/, 'Candles'],
  [/^\/trades\//, 'Trades'],
  [/^\/v1\//, 'Companion'],
  [/^\/(?:health|readyz|openapi\.json|docs)$/, 'Service'],
];

const SHARED = [dataOpenApi, dataDocs];

/** The endpoints of the data listener. */
export function dataSpecs(): readonly EndpointSpec[] {
  const controllers = [
    ...[ProvidersController, MarketsController, CandlesController, TradesController],
    ...[VenueTradesController, DataAdminController, DataHealthController],
  ];
  return [...endpointSpecsOf(controllers), ...SHARED];
}

/** The endpoints of the companion listener (`/v1`). */
export function companionSpecs(): readonly EndpointSpec[] {
  const controllers = [
    ...[CompanionController, CompanionListsController, CompanionCandlesController, DataHealthController],
  ];
  return [...endpointSpecsOf(controllers), ...SHARED];
}

export function dataDocument(): OpenApi {
  return described(dataSpecs(), 'Sotto market data', {
    url: 'http://127.0.0.1:8100',
    description: 'With `npm start`; elsewhere the value of `data_url`',
  });
}

export function companionDocument(): OpenApi {
  return described(companionSpecs(), 'Sotto market data, the companion', {
    url: 'http://127.0.0.1:8101',
    description: 'With `npm start`; elsewhere the value of `md_url`',
  });
}

/** A dialect for describing refusals only: it never checks a caller. */
const DESCRIBED = dataDialect({
  callers: { callerOf: () => undefined, isAdmin: () => false },
  addressOf: () => '',
  counter: { count: () => undefined },
  freshness: { note: () => undefined, headersFor: () => ({}) },
});

function described(
  specs: readonly EndpointSpec[],
  title: string,
  server: OpenApi['servers'][number],
): OpenApi {
  const document = openApiDocument(specs.map(withCommon), {
    dialect: DESCRIBED,
    title,
    version: DATA_VERSION,
    description: INTRODUCTION,
    tags: TAGS,
    tagOf,
    codes: DETAIL_MEANINGS,
    fields: FIELD_MEANINGS,
    explained: new Set(),
    sessionScheme: 'session',
    manners: DATA_MANNERS,
    examplesOf: () => undefined,
  });
  // An unknown path is refused before credentials are checked.
  const anyPath = Object.entries(document['x-any-path']).filter(([status]) => status !== '401');
  return { ...document, servers: [server], 'x-any-path': Object.fromEntries(anyPath) };
}

const MINUTE = constant('private, max-age=60');

/** Cache-Control of the replies that may be cached. For GET they also have an entity tag. */
const KEPT: Readonly<Record<string, Shape>> = {
  activeMarkets: constant('private, max-age=5'),
  marketDetails: MINUTE,
  marketMetadata: MINUTE,
  batchMetadata: MINUTE,
  marketOutcomes: MINUTE,
  getCandles: { describe: () => ({ type: 'string', enum: ['private, max-age=60', 'no-cache'] }) },
  getCompanionCandles: { describe: () => ({ type: 'string', enum: ['private, max-age=60', 'no-cache'] }) },
};

/**
 * Adds the statuses that follow from the kind of the endpoint, so that endpoints need not repeat them. Ids in paths are any text.
 */
function withCommon(spec: EndpointSpec): EndpointSpec {
  const isAsked = spec.access === 'session' && spec.role !== ADMIN;
  const takesCredentials = isAsked || spec.path.startsWith('/v1/');
  const common: readonly (readonly [number, readonly string[]])[] = [
    ...(spec.query === undefined && spec.body === undefined ? [] : [[422, [UNREADABLE_CODE]] as const]),
    ...(isAsked ? [[403, ['HTTP_403']] as const] : []),
    ...(spec.path.startsWith('/v1/') ? [[401, ['HTTP_401']] as const] : []),
    ...(isLimited(spec) ? [[429, [LIMIT_CODE, ...(takesCredentials ? ['HTTP_429'] : [])]] as const] : []),
  ];
  const statuses = new Map(Object.entries(spec.statuses ?? {}).map(([status, own]) => [Number(status), own]));
  for (const [status, codes] of common) statuses.set(status, [...(statuses.get(status) ?? []), ...codes]);
  return { ...keptReply(spec), ids: {}, statuses: Object.fromEntries(statuses) };
}

function keptReply(spec: EndpointSpec): EndpointSpec {
  const { operationId, method, answers } = spec;
  const kept = KEPT[operationId];
  const answer = answers?.[200];
  if (kept === undefined || answer === undefined) return spec;
  const headers = {
    ...answer.headers,
    'cache-control': kept,
    ...(method === 'GET' ? { etag: weakTag } : {}),
  };
  return { ...spec, answers: { ...answers, 200: { ...answer, headers } } };
}

function tagOf({ path, role }: EndpointSpec): string {
  if (role === ADMIN) return 'Operators';
  const found = TAG_OF_PATH.find(([pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`no part of the document is defined for ${path}`);
  return found[1];
}
