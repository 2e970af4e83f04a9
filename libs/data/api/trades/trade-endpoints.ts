import { anyText, constant, flag, integerFrom, listOf, record } from '#libs/edge/documents/shapes.js';
import { named } from '#libs/edge/documents/components.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { ACCESS_STATUSES } from '../flags/access-statuses.js';
import { cursorParam, dataQuery, optional, required, withDefault } from '../params.js';
import { numberShape, orNull, timeShape } from '../reply-shapes.js';
import { boolean, id, integer, providerName, unixTime } from '../text-kinds.js';

const DAY = 86_400;
const LONGEST_WINDOW = 30 * DAY;

const contract = { provider: required(providerName()), contract_id: required(id) };
const window_seconds = withDefault(integer(60, LONGEST_WINDOW), DAY);

const coverage = { 'x-data-coverage': anyText };

const metricFields = {
  ...{ volume_usd: numberShape, outcome_0_volume_usd: numberShape, outcome_1_volume_usd: numberShape },
  ...{ outcome_0_pressure_pct: numberShape, trade_count: integerFrom(0), window_seconds: integerFrom(60) },
  ...{ coverage_pct: numberShape, source: constant('store'), indexing: constant(false) },
};

const storedTrade = record({
  ...{
    trade_id: anyText,
    timestamp: numberShape,
    price: numberShape,
    size: numberShape,
    notional_usd: numberShape,
  },
  ...{ outcome_index: integerFrom(0), outcome: orNull(anyText), side: orNull(anyText) },
  ...{ maker: orNull(anyText), taker: orNull(anyText), tx_hash: orNull(anyText), source: constant('store') },
});

export const getTradeHistory = endpoint({
  operationId: 'getTradeHistory',
  method: 'GET',
  path: '/trades/history',
  access: 'session',
  capability: 'trade:read',
  query: dataQuery({
    ...contract,
    token_id: optional(id),
    window_seconds,
    before: optional(unixTime),
    limit: withDefault(integer(1, 1_000), 200),
    cursor: cursorParam(),
    trigger_ingest: optional(boolean),
  }),
  summary: 'Trades of the window up to now, newest first',
  statuses: { 400: ['Unknown provider: <name>', 'Invalid or expired cursor'], ...ACCESS_STATUSES },
  answers: {
    200: {
      description: 'A page of trades, and metrics of the whole window.',
      body: named(
        'TradeHistory',
        record({
          ...{ trades: listOf(named('StoredTrade', storedTrade)), count: integerFrom(0), has_more: flag },
          ...{
            next_cursor: orNull(anyText),
            oldest_available_ts: orNull(numberShape),
            history_from: orNull(timeShape),
          },
          metrics: named('StoredTradeMetrics', record(metricFields)),
        }),
      ),
      headers: coverage,
    },
  },
});

export const getTradeMetrics = endpoint({
  operationId: 'getTradeMetrics',
  method: 'GET',
  path: '/trades/metrics',
  access: 'session',
  capability: 'trade:read',
  query: dataQuery({ ...contract, window_seconds }),
  summary: 'Metrics of the trades in the window up to now',
  statuses: { 400: ['Unknown provider: <name>'], ...ACCESS_STATUSES },
  answers: {
    200: {
      description: 'Sums of the window.',
      body: named('TradeWindowMetrics', record({ ...metricFields, history_from: orNull(timeShape) })),
      headers: coverage,
    },
  },
});
