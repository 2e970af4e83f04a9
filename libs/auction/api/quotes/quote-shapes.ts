import type { WithdrawnBy } from '../../rules/events.js';
import type { AwardedQuoteView, PartyView } from '../../rules/told/award-view.js';
import type { LossReason, QuoteView } from '../../rules/told/quote-view.js';
import type { QuoteStatus } from '../../rules/state.js';
import type { PreflightVerdict, RouteVerdict } from '../../admission/risk/verdict.js';
import { atoms, positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  digits,
  integerFrom,
  listOf,
  moment,
  oneOf,
  optional,
  record,
  recordOf,
  type Shape,
  type ShapesOf,
  words,
} from '#libs/edge/documents/shapes.js';

type Disclosed = Extract<PartyView, { readonly id: string }>;
type Hidden = Extract<PartyView, { readonly alias: string }>;

export const party: Shape = named(
  'Party',
  oneOf([recordOf<Hidden>({ alias: anyText }), recordOf<Disclosed>({ id: uuid, display_name: anyText })]),
);

export const lossReason = words<LossReason>({
  NOT_SELECTED: 'other quotes won',
  NO_AWARD: 'no quote won',
});

const quoteResult = named(
  'QuoteResult',
  oneOf([
    record({ awarded_quantity_atoms: atoms, award_id: uuid }),
    record({
      awarded_quantity_atoms: atoms,
      reason: lossReason,
      rank: optional(integerFrom(1)),
      winning_price_atoms: optional(atoms),
    }),
  ]),
);

const WON: Readonly<Record<'AWARDED' | 'PARTIALLY_AWARDED' | 'SETTLED' | 'FAILED', string>> = {
  AWARDED: 'won with its whole quantity',
  PARTIALLY_AWARDED: 'won with a part of its quantity',
  SETTLED: 'its award was executed',
  FAILED: 'its award could not be executed',
};
const quoteStatus = words<QuoteStatus>({
  ACTIVE: 'active',
  WITHDRAWN: 'withdrawn; see `withdrawn_by`',
  EXPIRED: 'its `expires_at` has passed',
  ...WON,
  NOT_AWARDED: 'was active at the close and won nothing',
  RELEASED: 'the auction was cancelled or voided',
});

/** What any viewer of the quote may see. */
const common: ShapesOf<Omit<QuoteView, 'status' | 'client_reference' | 'withdrawn_by'>> = {
  quote_id: uuid,
  auction_id: uuid,
  revision: positive,
  price_atoms: atoms,
  quantity_atoms: atoms,
  min_quantity_atoms: atoms,
  expires_at: optional(moment),
  submitted_at: moment,
  updated_at: moment,
  result: optional(quoteResult),
};

export const quote: Shape = named(
  'Quote',
  recordOf<QuoteView>({
    ...common,
    status: quoteStatus,
    client_reference: optional(anyText),
    withdrawn_by: optional(
      words<WithdrawnBy>({
        MARKET_MAKER: 'its maker',
        DISCONNECT: 'the end of the stream connection it was submitted on',
        PROTECTION: "the maker's own protection",
        OPERATOR: 'an operator',
      }),
    ),
  }),
);

const awardedQuote = named(
  'AwardedQuote',
  recordOf<Omit<AwardedQuoteView, 'withdrawn_by'>>({ ...common, status: words(WON), market_maker: party }),
);

export const auctionQuotes: Shape = named(
  'AuctionQuotes',
  record({ quotes: listOf(oneOf([quote, awardedQuote])) }),
);

export const quotePage: Shape = named(
  'QuotePage',
  record({ quotes: listOf(quote, { max: 50 }), next_cursor: optional(anyText) }),
);

export const verdict: Shape = named(
  'CapacityVerdict',
  recordOf<PreflightVerdict>({
    status: words<PreflightVerdict['status']>({
      EXECUTABLE: 'every route carries the requested size',
      INSUFFICIENT_CAPACITY: 'at least one route does not',
    }),
    requested_quantity_atoms: digits(1),
    maximum_executable_quantity_atoms: digits(0),
    checked_at: moment,
    valid_until: moment,
    routes: listOf(
      recordOf<RouteVerdict>({
        venue: anyText,
        resource_type: words<RouteVerdict['resource_type']>({
          COLLATERAL: 'collateral at the venue',
          OUTCOME_TOKEN: 'inventory to sell',
          VENUE_POSITION_LIMIT: 'the position limit at the venue',
          SERVICE_EXPOSURE_LIMIT: 'the exposure limit over all venues',
        }),
        maximum_executable_quantity_atoms: digits(0),
        risk_source_sequence: digits(0),
        risk_valid_until: moment,
        authority_valid_until: moment,
      }),
      { min: 1 },
    ),
  }),
);

export const withdrawnAll: Shape = named(
  'WithdrawAllResult',
  record({
    withdrawn: listOf(uuid),
    not_withdrawable: listOf(record({ quote_id: uuid, error: anyText })),
    shards: listOf(
      record({
        shard: integerFrom(0, 2),
        status: words({
          DONE: 'the owner has run the command',
          UNAVAILABLE: 'the owner could not be asked: repeat with the same key',
        }),
      }),
    ),
  }),
);
