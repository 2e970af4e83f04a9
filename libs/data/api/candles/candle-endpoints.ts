import {
  anyText,
  described,
  integerFrom,
  listOf,
  optional,
  record,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import { named } from '#libs/edge/documents/components.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { dataQuery, required, withDefault } from '../params.js';
import { orNull, timeShape } from '../reply-shapes.js';
import { boolean, id, integer, providerName, time } from '../text-kinds.js';
import { batchBody } from './asked-items.js';
import { timeframeText, TIMEFRAMES } from './timeframes.js';

const LARGEST_BATCH = 8_388_608;

const candleQuery = dataQuery({
  provider: required(providerName({ among: 'recorded' })),
  contract_id: required(id),
  timeframe_seconds: required(timeframeText),
  start: required(time),
  end: required(time),
  outcome: withDefault(integer(0), 0),
  rebuild: withDefault(boolean, false),
});

const cents: Shape = { describe: () => ({ type: 'number', minimum: 0, maximum: 100 }) };

const candle = named(
  'Candle',
  record({
    contract_id: described(anyText, 'As the caller sent it.'),
    bucket_start: timeShape,
    timeframe_seconds: { describe: () => ({ type: 'integer', enum: TIMEFRAMES }) },
    ...{ open: cents, high: cents, low: cents, close: cents },
    volume: described(integerFrom(0), 'Whole contracts.'),
    token_id: optional(orNull(anyText)),
  }),
);

const candles = named(
  'Candles',
  record({ candles: listOf(candle), history_from: optional(orNull(timeShape)) }),
);

const coverage = { 'x-data-coverage': anyText };

const read = {
  method: 'GET',
  query: candleQuery,
  // Most replies are kept; the others wait for their account's share where they are read.
  readWeight: 1,
  summary: 'Candles of one outcome',
  statuses: {
    400: ['Unknown provider: <name>', 'end must be after start', 'Unknown outcome: <n>'],
    503: ['Too many candles are being rebuilt'],
  },
  answers: {
    200: {
      description: 'The buckets with trades, including the current one.',
      body: candles,
      headers: coverage,
    },
  },
} as const;

export const getCandles = endpoint({
  ...read,
  operationId: 'getCandles',
  path: '/candles',
  access: 'session',
});

/** The same candles on the companion listener. */
export const getCompanionCandles = endpoint({
  ...read,
  operationId: 'getCompanionCandles',
  path: '/v1/candles',
  access: 'public',
});

export const getCandleBatch = endpoint({
  operationId: 'getCandleBatch',
  method: 'POST',
  path: '/candles/batch',
  access: 'session',
  body: batchBody,
  maxBodyBytes: LARGEST_BATCH,
  summary: 'Candles of up to 200 outcomes in one streamed reply',
  statuses: { 400: ['Estimated bars <n> exceed the limit of 400000'] },
  answers: {
    200: {
      description: 'A result for each item, in their order. A bad item has an error in its result.',
      body: named(
        'CandleResults',
        record({
          results: listOf(
            record({
              index: integerFrom(0),
              candles: listOf(candle),
              error: optional(anyText),
              coverage: optional(anyText),
              history_from: optional(orNull(timeShape)),
            }),
          ),
        }),
      ),
    },
  },
});
