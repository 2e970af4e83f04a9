import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  flag,
  integerFrom,
  listOf,
  oneOf,
  optional,
  record,
  recordOf,
  words,
  type Shape,
} from '#libs/edge/documents/shapes.js';
import type { ListingStatus } from '../../rules/events.js';
import { asItCame, byKey, numberShape, orNull, timeShape, unitPrice } from '../reply-shapes.js';
import type { BatchPrice } from './batch-price.js';
import type { ActiveRow, DetailsRow } from './market-facts.js';
import type { MetadataRow, ResolutionRules } from './metadata-rows.js';
import type { OutcomeRow } from './outcome-rows.js';

const status = words<ListingStatus>({
  open: 'It trades, on `venue_b`',
  active: 'It trades, elsewhere',
  closed: 'It does not trade; it may again',
  resolved: 'Its payout is known',
  settled: 'Its payout is paid',
});

const activeRow = named(
  'ActiveMarket',
  recordOf<ActiveRow>({
    ...{ market_id: anyText, condition_id: orNull(anyText), title: anyText, status },
    outcomes: listOf(
      recordOf<ActiveRow['outcomes'][number]>({ outcome: anyText, token_id: orNull(anyText) }),
    ),
    raw: asItCame,
  }),
);

export const activePage: Shape = record({
  ...{ provider: anyText, exchange_id: anyText, markets: listOf(activeRow), count: integerFrom(0) },
  ...{ next_cursor: orNull(anyText), has_more: flag, source: constant('market_metadata_cache') },
});

const detailsRow = named(
  'MarketDetails',
  recordOf<DetailsRow>({
    ...{ market_id: anyText, provider_id: orNull(integerFrom(0)), event_id: orNull(anyText), name: anyText },
    ...{ category: orNull(anyText), status, condition_id: orNull(anyText), token_id: orNull(anyText) },
    ...{ token_ids: listOf(anyText), outcomes: listOf(anyText) },
  }),
);

export const detailsList: Shape = record({ markets: listOf(detailsRow) });

export const pricesByKey: Shape = byKey(
  named(
    'BatchPrice',
    recordOf<BatchPrice>({ price: numberShape, volume: orNull(anyText), liquidity: orNull(numberShape) }),
  ),
);

const METADATA = {
  ...{ ticker: anyText, provider: anyText, name: orNull(anyText), description: orNull(anyText) },
  resolution_rules: recordOf<ResolutionRules>({
    ...{ primary: orNull(anyText), secondary: orNull(anyText), source: orNull(anyText) },
  }),
  contract: recordOf<MetadataRow['contract']>({
    ...{ tick_size: orNull(unitPrice), min_price: orNull(unitPrice), max_price: orNull(unitPrice) },
    ...{ lot_size: orNull(numberShape), quote_currency: orNull(anyText) },
    ...{ settlement_ts: orNull(timeShape), expires_at: orNull(timeShape) },
  }),
  images: recordOf<MetadataRow['images']>({ icon: orNull(anyText), banner: orNull(anyText) }),
  ...{ external_url: orNull(anyText), condition_id: orNull(anyText), event_id: orNull(anyText) },
  ...{ ctf_neg_risk: orNull(flag), extra: asItCame, active: orNull(flag) },
} satisfies Record<keyof MetadataRow, Shape>;

export const metadata: Shape = named('MarketMetadata', recordOf<MetadataRow>(METADATA));

const FOUND = { ticker: anyText, provider: anyText };

export const metadataByKey: Shape = byKey(
  oneOf([
    named('FoundMetadata', record({ found: constant(true), ...METADATA })),
    named('FoundTitle', record({ found: constant(true), ...FOUND, name: orNull(anyText) })),
    named('UnknownMetadata', record({ found: constant(false), ...FOUND, error: optional(anyText) })),
  ]),
);

export const eventOutcomes: Shape = named(
  'EventOutcomes',
  record({
    ...{ event_id: orNull(anyText), event_name: orNull(anyText), is_grouped: constant(true) },
    provider: anyText,
    outcomes: listOf(
      recordOf<OutcomeRow>({
        ...{ market_id: anyText, condition_id: orNull(anyText), label: orNull(anyText) },
        ...{ outcome_index: integerFrom(0), token_id: orNull(anyText), price: orNull(unitPrice) },
        ...{ volume_24h: orNull(numberShape), liquidity: orNull(numberShape) },
        ...{ status: orNull(status), expires_at: orNull(timeShape) },
      }),
    ),
  }),
);

export const movedTo: Shape = record({ detail: anyText, moved_to: anyText });
