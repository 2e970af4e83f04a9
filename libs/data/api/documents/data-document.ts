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

const INTRODUCTION = `Markets of prediction venues, what they cost and what was traded of them, under one interface.

Names of providers are read in any case; an id of a market, of a condition or of a token does wherever an id is asked for. Prices are
0 to 1 or cents, as each field says; money is dollars, sizes are contracts, times are ISO 8601 in UTC. Unknown parameters and fields
are ignored. Refusals are \`{detail}\` in words; what cannot be read is 422 with the place of each fault; too many calls are 429 with
\`{error}\`. Replies of what we keep say in \`X-Data-As-Of\` how far they are applied, and \`X-Data-Stale: true\` where that is old.`;

const TAGS: readonly Tag[] = [
  { name: 'Providers', description: 'Who sends market data, and what may be done there.' },
  { name: 'Markets', description: 'What markets are, and what they cost.' },
  { name: 'Candles', description: 'What was traded, by time.' },
  { name: 'Trades', description: 'Of our store, and as two venues tell them at this moment.' },
  { name: 'Companion', description: 'Without credentials, or with some for higher limits.' },
  { name: 'Operators', description: 'With the admin secret alone; to all others these paths do not exist.' },
  { name: 'Service', description: 'Of the service itself.' },
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

/** Of the listener of market data. */
export function dataSpecs(): readonly EndpointSpec[] {
  const controllers = [
    ...[ProvidersController, MarketsController, CandlesController, TradesController],
    ...[VenueTradesController, DataAdminController, DataHealthController],
  ];
  return [...endpointSpecsOf(controllers), ...SHARED];
}

/** Of the listener that serves `/v1`. */
export function companionSpecs(): readonly EndpointSpec[] {
  const controllers = [
    ...[CompanionController, CompanionListsController, CompanionCandlesController, DataHealthController],
  ];
  return [...endpointSpecsOf(controllers), ...SHARED];
}

export function dataDocument(): OpenApi {
  return described(dataSpecs(), 'Sotto market data', {
    url: 'http://127.0.0.1:8100',
    description: 'What `npm start` starts; elsewhere what `data_url` says',
  });
}

export function companionDocument(): OpenApi {
  return described(companionSpecs(), 'Sotto market data, the companion', {
    url: 'http://127.0.0.1:8101',
    description: 'What `npm start` starts; elsewhere what `md_url` says',
  });
}

/** The document describes refusals, and asks nobody who calls. */
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
  // A path that is not there is refused before anybody asks who calls.
  const anyPath = Object.entries(document['x-any-path']).filter(([status]) => status !== '401');
  return { ...document, servers: [server], 'x-any-path': Object.fromEntries(anyPath) };
}

const MINUTE = constant('private, max-age=60');

/** How long replies may be kept that may be kept at all. Of those to `GET` the tag can be asked for again. */
const KEPT: Readonly<Record<string, Shape>> = {
  activeMarkets: constant('private, max-age=5'),
  marketDetails: MINUTE,
  marketMetadata: MINUTE,
  batchMetadata: MINUTE,
  marketOutcomes: MINUTE,
  getCandles: { describe: () => ({ type: 'string', enum: ['private, max-age=60', 'no-cache'] }) },
  getCompanionCandles: { describe: () => ({ type: 'string', enum: ['private, max-age=60', 'no-cache'] }) },
};

/** What follows from the kind of a call, and need not be said by each. Ids in paths are any text. */
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
  if (found === undefined) throw new Error(`nothing says to which part of the document ${path} belongs`);
  return found[1];
}
