import { object } from '#libs/edge/decoding/decode.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { bodyBoolean, bodyId, bodyInteger, bodyList, bodyText } from '../bodies.js';
import { cursorParam, dataQuery, optional, required, withDefault } from '../params.js';
import { boolean, id, integer } from '../text-kinds.js';
import * as shapes from './market-shapes.js';
import { providerAsSent, providerNumber } from './provider-kinds.js';

const MOST_PAGE = 250;
const USUAL_PAGE = 100;
const MOST_DETAILS = 500;
const MOST_PRICES = 300;
const MOST_CONTRACTS = 100;
const LONGEST_NAME = 128;
const UNKNOWN_PROVIDER = 'Unknown provider: <name>';

const ANY_INTEGER = bodyInteger(Number.MIN_SAFE_INTEGER);

/** A market and the number of its provider. */
const PAIR = object({ required: { market_id: bodyId, provider_id: ANY_INTEGER } });

export const activeMarkets = endpoint({
  operationId: 'activeMarkets',
  method: 'GET',
  path: '/markets/active',
  access: 'session',
  query: dataQuery({
    provider: optional(providerAsSent({ isBounded: true })),
    limit: withDefault<number>(integer(1, MOST_PAGE), USUAL_PAGE),
    cursor: cursorParam(),
  }),
  summary: 'Open markets of a provider, page by page from one snapshot',
  answers: { 200: { description: 'A page, by market id.', body: shapes.activePage } },
  statuses: { 400: [UNKNOWN_PROVIDER, 'Invalid or expired cursor'], 503: ['Snapshot unavailable'] },
});

export const marketDetails = endpoint({
  operationId: 'marketDetails',
  method: 'POST',
  path: '/markets/details',
  access: 'session',
  body: object({ required: { markets: bodyList(PAIR, { min: 1, max: MOST_DETAILS }) } }),
  summary: 'Ids and outcomes of markets',
  answers: {
    200: { description: 'In order of the request; unknown ones are absent.', body: shapes.detailsList },
  },
});

export const batchPrices = endpoint({
  operationId: 'batchPrices',
  method: 'POST',
  path: '/markets/batch-prices',
  access: 'session',
  body: object({ required: { markets: bodyList(PAIR, { min: 1, max: MOST_PRICES }) } }),
  summary: 'Reference prices of markets, each in the scale of its provider',
  answers: {
    200: {
      description: 'By id as in the request; markets without a price are absent.',
      body: shapes.pricesByKey,
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER] },
});

export const marketMetadata = endpoint({
  operationId: 'marketMetadata',
  method: 'GET',
  path: '/markets/metadata',
  access: 'session',
  query: dataQuery({ ticker: required(id), provider: required(providerAsSent({})) }),
  summary: 'The metadata of one market',
  answers: { 200: { description: 'Unknown values are null.', body: shapes.metadata } },
  statuses: {
    400: [UNKNOWN_PROVIDER],
    404: ['Market metadata not found: <ticker>'],
    429: ['Provider error: rate limited'],
    502: ['Provider error: <provider>'],
  },
});

export const batchMetadata = endpoint({
  operationId: 'batchMetadata',
  method: 'POST',
  path: '/markets/metadata/batch',
  access: 'session',
  body: object({
    required: {
      contracts: bodyList(object({ required: { ticker: bodyId, provider: bodyText(0, LONGEST_NAME) } }), {
        min: 1,
        max: MOST_CONTRACTS,
      }),
    },
    optional: { titles_only: bodyBoolean },
  }),
  summary: 'The metadata of several markets',
  answers: {
    200: {
      description: 'By ticker. Every requested market has an entry, found or not.',
      body: shapes.metadataByKey,
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER] },
});

export const marketOutcomes = endpoint({
  operationId: 'marketOutcomes',
  method: 'GET',
  path: '/markets/outcomes',
  access: 'session',
  query: dataQuery({
    market_id: required(id),
    provider_id: required(providerNumber),
    include_closed: withDefault<boolean>(boolean, false),
  }),
  summary: 'Outcomes of all markets of the event that a market belongs to',
  answers: { 200: { description: 'By market id and index.', body: shapes.eventOutcomes } },
  statuses: {
    400: [UNKNOWN_PROVIDER],
    429: ['Provider error: rate limited'],
    502: ['Provider error: <provider>'],
  },
});

export const tickSize = endpoint({
  operationId: 'retiredTickSize',
  method: 'GET',
  path: '/markets/tick-size',
  access: 'public',
  summary: 'Gone: tick sizes have moved to the companion service',
  answers: { 410: { description: 'Where they are now.', body: shapes.movedTo } },
});
