import { named } from '#libs/edge/documents/components.js';
import {
  amount,
  anyText,
  constant,
  integerFrom,
  listOf,
  oneOf,
  record,
} from '#libs/edge/documents/shapes.js';
import { endpoint } from '#libs/edge/endpoint.js';
import { ACCESS_STATUSES } from '../flags/access-statuses.js';
import { cursorParam, dataQuery, listParam, optional, required, withDefault } from '../params.js';
import { asItCame, orNull } from '../reply-shapes.js';
import { id, integer } from '../text-kinds.js';

const LIMIT = withDefault(integer(1, 500), 100);
const unixSeconds = optional(integer(Number.MIN_SAFE_INTEGER));
const MOST_MARKETS = 100;

const metrics = named(
  'VenueTradeMetrics',
  record({
    ...{ volume_usd: amount, outcome_0_volume_usd: amount, outcome_1_volume_usd: amount },
    ...{ outcome_0_pressure_pct: amount, trade_count: integerFrom(0), window_seconds: constant(86_400) },
    ...{ coverage_pct: amount, source: constant('external'), indexing: constant(false) },
  }),
);

export const tradesOfVenueB = endpoint({
  operationId: 'tradesOfVenueB',
  method: 'GET',
  path: '/trades/venue_b',
  access: 'session',
  capability: 'trade:read',
  query: dataQuery({
    ...{
      ticker: required(id),
      min_ts: unixSeconds,
      max_ts: unixSeconds,
      limit: LIMIT,
      cursor: cursorParam(),
    },
  }),
  summary: 'Trades of a market of venue_b, live from the venue',
  answers: {
    200: {
      description: 'All trades of the page; the metrics count only those from `min_ts` to `max_ts`.',
      body: record({ trades: listOf(asItCame), cursor: orNull(anyText), metrics }),
    },
  },
  statuses: { ...ACCESS_STATUSES, 502: ['Provider error: <provider>'] },
});

export const tradesOfVenueA = endpoint({
  operationId: 'tradesOfVenueA',
  method: 'GET',
  path: '/trades/venue_a',
  access: 'session',
  capability: 'trade:read',
  query: dataQuery({
    market: listParam(id, { min: 1, max: MOST_MARKETS }),
    ...{ after: unixSeconds, before: unixSeconds, limit: LIMIT },
  }),
  summary: 'Trades of markets of venue_a, live from the venue',
  answers: {
    200: {
      description: 'The trades from `after` to `before`; without metrics if no id is known.',
      body: record({ trades: listOf(asItCame), metrics: oneOf([metrics, record({})]) }),
    },
  },
  statuses: {
    ...ACCESS_STATUSES,
    404: ['Resource not found: <ids>'],
    429: ['Provider error: rate limited'],
    502: ['Provider error: <provider>'],
  },
});
