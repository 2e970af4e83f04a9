import { object } from '#libs/edge/decoding/decode.js';
import { text as anyWords } from '#libs/edge/decoding/decode-scalars.js';
import { anyText, flag, integerFrom, listOf, oneOf, record } from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { bodyId, bodyList } from '../bodies.js';
import { cursorParam, dataQuery, listParam, optional, required, withDefault } from '../params.js';
import { id, integer, providerName, time } from '../text-kinds.js';
import {
  book,
  listedMarket,
  mark,
  nextCursor,
  perpetual,
  resolution,
  synthetic,
  tickSize,
  tickSizeResult,
} from './row-shapes.js';

const MOST_CONTRACTS = 100;
const MOST_BOOKS = 50;
const DEEPEST = 200;
const USUAL_DEPTH = 20;
const MOST_ROWS = 250;
const USUAL_ROWS = 100;

const provider = required(providerName({ among: 'recorded' }));
const limit = withDefault(integer(1, MOST_ROWS), USUAL_ROWS);
const cursor = cursorParam();
const UNKNOWN_PROVIDER = 'Unknown provider: <name>';
const BAD_CURSOR = 'Invalid or expired cursor';

export const companionMarkets = endpoint({
  operationId: 'companionMarkets',
  method: 'GET',
  path: '/v1/markets',
  access: 'public',
  query: dataQuery({ provider, limit, cursor }),
  summary: 'Open markets and the names of their outcomes',
  answers: {
    200: {
      description: 'A page of a snapshot, by market id.',
      body: record({
        ...{ exchange_id: anyText, markets: listOf(listedMarket), count: integerFrom(0) },
        ...{ next_cursor: nextCursor, has_more: flag },
      }),
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER, BAD_CURSOR], 503: ['Snapshot unavailable'] },
});

export const companionMarks = endpoint({
  operationId: 'companionMarks',
  method: 'GET',
  path: '/v1/marks',
  access: 'public',
  query: dataQuery({
    ...{ provider, contract_id: listParam(id, { min: 1, max: MOST_CONTRACTS }), asset_id: optional(id) },
  }),
  summary: 'Current prices of outcomes, and their sources',
  answers: {
    200: {
      description: 'A row for each outcome, in order of the request; unknown contracts are absent.',
      body: record({ marks: listOf(mark) }),
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER] },
});

export const companionBooks = endpoint({
  operationId: 'companionBooks',
  method: 'GET',
  path: '/v1/books',
  access: 'public',
  query: dataQuery({
    ...{ provider, contract_id: listParam(id, { min: 1, max: MOST_BOOKS }), asset_id: optional(id) },
    depth: withDefault(integer(1, DEEPEST), USUAL_DEPTH),
  }),
  summary: 'Order books of outcomes; stale books keep their last state',
  answers: {
    200: {
      description: 'A row for each outcome, best prices first; unknown contracts are absent.',
      body: record({ books: listOf(book) }),
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER] },
});

export const companionSynthetics = endpoint({
  operationId: 'companionSynthetics',
  method: 'GET',
  path: '/v1/synthetics',
  access: 'public',
  query: dataQuery({ provider, underlying: optional(id), limit, cursor }),
  summary: 'Instruments made from others: those that pay when a contract of venue_b does not',
  answers: {
    200: {
      description: 'A page, by market id of the leg.',
      body: record({ synthetics: listOf(synthetic), next_cursor: nextCursor }),
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER, BAD_CURSOR] },
});

export const companionResolutions = endpoint({
  operationId: 'companionResolutions',
  method: 'GET',
  path: '/v1/resolutions',
  access: 'public',
  query: dataQuery({
    ...{ provider, contract_id: listParam(id, { max: MOST_CONTRACTS }), since: optional(time) },
    ...{ limit, cursor },
  }),
  summary: 'What resolved markets pay, or have paid',
  answers: {
    200: {
      description: 'A page: newest first, or oldest first from `since` on.',
      body: record({ resolutions: listOf(resolution), next_cursor: nextCursor }),
    },
  },
  statuses: { 400: [UNKNOWN_PROVIDER, BAD_CURSOR] },
});

export const companionPerpetuals = endpoint({
  operationId: 'companionPerpetuals',
  method: 'GET',
  path: '/v1/perpetuals',
  access: 'public',
  query: dataQuery({ provider, symbol: optional(id) }),
  summary: 'Perpetual contracts with their newest tick',
  answers: {
    200: { description: 'By symbol.', body: record({ perpetuals: listOf(perpetual) }) },
  },
  statuses: { 400: [UNKNOWN_PROVIDER] },
});

export const companionTickSize = endpoint({
  operationId: 'companionTickSize',
  method: 'GET',
  path: '/v1/markets/tick-size',
  access: 'public',
  query: dataQuery({ provider, contract_id: required(id), asset_id: optional(id) }),
  summary: 'The price grid of a contract',
  answers: { 200: { description: 'The grid that the venue uses now.', body: tickSize } },
  statuses: { 400: [UNKNOWN_PROVIDER], 404: ['Contract not found: <contract_id>'] },
});

export const companionTickSizes = endpoint({
  operationId: 'companionTickSizes',
  method: 'POST',
  path: '/v1/markets/tick-size/batch',
  access: 'public',
  body: object({
    required: {
      items: bodyList(
        object({ required: { provider: anyWords(), contract_id: bodyId }, optional: { asset_id: bodyId } }),
        { min: 1, max: MOST_CONTRACTS },
      ),
    },
  }),
  summary: 'The price grids of many contracts',
  answers: {
    200: {
      description: 'One result for each item, in the same order. A bad item has an error.',
      body: record({
        results: listOf(oneOf([tickSizeResult, record({ index: integerFrom(0), error: anyText })])),
      }),
    },
  },
});
