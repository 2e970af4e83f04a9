import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  flag,
  integerFrom,
  listOf,
  recordOf,
  words,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import { PROVIDERS } from '../../rules/providers.js';
import { numberShape as number, orNull, timeShape as time, unitPrice as unit } from '../reply-shapes.js';
import type {
  ListedMarketRow,
  PerpetualRow,
  ResolutionRow,
  SyntheticRow,
  TickSizeRow,
} from './contract-rows.js';
import type { BookRow, InstrumentFields, MarkRow } from './instrument-rows.js';

const provider: Shape = { describe: () => ({ type: 'string', enum: PROVIDERS }) };
/** `[price, size]` */
const level: Shape = {
  describe: () => ({ type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }),
};

export const nextCursor: Shape = orNull(anyText);

const INSTRUMENT = {
  ...{ contract_id: anyText, asset_id: orNull(anyText), outcome_index: integerFrom(0), outcome: anyText },
} satisfies Record<keyof InstrumentFields, Shape>;

export const listedMarket = named(
  'ListedMarket',
  recordOf<ListedMarketRow>({
    ...{ market_id: anyText, condition_id: orNull(anyText) },
    outcomes: listOf(
      recordOf<ListedMarketRow['outcomes'][number]>({ outcome: anyText, token_id: orNull(anyText) }),
    ),
  }),
);

export const mark = named(
  'Mark',
  recordOf<MarkRow>({
    ...INSTRUMENT,
    ...{ mark: orNull(unit), bid: orNull(unit), ask: orNull(unit), last: orNull(unit) },
    source: orNull(
      words({
        payout: 'The payout of the outcome',
        mid: 'The middle of the best prices of a fresh book',
        last: 'The last trade',
      }),
    ),
    ...{ as_of: orNull(time), stale: flag },
  }),
);

export const book = named(
  'Book',
  recordOf<BookRow>({
    ...INSTRUMENT,
    ...{ bids: listOf(level), asks: listOf(level), last: orNull(unit) },
    ...{ sequence: orNull(number), as_of: orNull(time), stale: flag },
  }),
);

export const synthetic = named(
  'Synthetic',
  recordOf<SyntheticRow>({
    ...{ synthetic_id: anyText, kind: constant('complement') },
    legs: listOf(recordOf<SyntheticRow['legs'][number]>({ provider, contract_id: anyText, weight: number })),
    ...{ mark: orNull(unit), as_of: orNull(time) },
  }),
);

export const resolution = named(
  'Resolution',
  recordOf<ResolutionRow>({
    contract_id: anyText,
    status: words({ resolved: 'The payout is known', settled: 'It is paid' }),
    ...{ outcome_index: orNull(integerFrom(0)), payout: listOf(unit) },
    ...{ resolved_at: orNull(time), settled_at: orNull(time), source_url: orNull(anyText), disputed: flag },
  }),
);

export const perpetual = named(
  'Perpetual',
  recordOf<PerpetualRow>({
    ...{ symbol: anyText, mark: orNull(number), index: orNull(number), funding_rate: orNull(number) },
    ...{ next_funding_at: orNull(time), open_interest: orNull(number) },
  }),
);

const TICK_SIZE = {
  ...{ provider, contract_id: anyText, asset_id: orNull(anyText), tick_size: orNull(unit) },
  ...{ min_price: orNull(unit), max_price: orNull(unit) },
  bands: listOf(recordOf<TickSizeRow['bands'][number]>({ start: unit, end: unit, step: unit })),
  as_of: orNull(time),
} satisfies Record<keyof TickSizeRow, Shape>;

export const tickSize = named('TickSize', recordOf<TickSizeRow>(TICK_SIZE));

export const tickSizeResult: Shape = recordOf<TickSizeRow & { readonly index: number }>({
  index: integerFrom(0),
  ...TICK_SIZE,
});
