import type { AwardRow, AwardView, OwnAwardView } from '../../rules/told/award-view.js';
import type { CancelledBy } from '../../rules/events.js';
import type { ExecutionStatus } from '../../rules/state.js';
import type {
  Allocation,
  MakerIdentity,
  OriginatorIdentity,
  QuoteRevisionPolicy,
  ResultDisclosure,
  Route,
  Side,
} from '../../rules/terms.js';
import type { MakerView, OriginatorView } from '../../rules/told/view.js';
import type { ViewedStatus } from '../../rules/told/viewer.js';
import { positive, uuid } from '#libs/edge/decoding/decode-scalars.js';
import { named } from '#libs/edge/documents/components.js';
import {
  anyText,
  constant,
  integerFrom,
  listOf,
  moment,
  oneOf,
  optional,
  record,
  recordOf,
  words,
  type Shape,
  type ShapesOf,
} from '#libs/edge/documents/shapes.js';
import { party, quote } from '../quotes/quote-shapes.js';

export const auctionStatus = named(
  'AuctionStatus',
  words<ViewedStatus>({
    OPEN: 'takes quotes until `closes_at`',
    CLOSED: 'the close is being decided',
    AWARDED: 'there are winners, execution has not begun',
    EXECUTING: 'awards are being executed',
    SETTLED: 'every award was executed',
    PARTIALLY_SETTLED: 'some awards were executed, some failed',
    EXECUTION_FAILED: 'no award could be executed',
    NO_AWARD: 'no quote won',
    CANCELLED: 'its originator cancelled it',
    VOIDED: 'an operator or the end of a market ended it',
    COMPLETED: 'over for a maker without an award, even if it goes on for others',
  }),
);

const executionStatus = words<ExecutionStatus>({
  PENDING: 'waits for its execution',
  SUBMITTED: 'is on its way to a venue',
  CONFIRMED: 'executed',
  FAILED: 'could not be executed',
});

type Common = Pick<OriginatorView, keyof OriginatorView & keyof MakerView>;
type Shared = Omit<Common, 'role' | 'award' | 'cancellation'>;

const shared: ShapesOf<Shared> = {
  auction_id: uuid,
  status: auctionStatus,
  phase: words<Shared['phase']>({ LIVE: 'held by its owner', COMPLETED: 'over for this viewer' }),
  view_version: positive,
  side: words<Side>({ BUY: 'the originator buys', SELL: 'the originator sells' }),
  quantity_atoms: positive,
  allocation: words<Allocation>({
    SINGLE_WINNER: 'one quote takes all of its quantity',
    SPLIT: 'a ladder of winners, each at its own price',
  }),
  max_winners: optional(integerFrom(2, 16)),
  quote_revision_policy: words<QuoteRevisionPolicy>({
    FREE: 'quotes may be changed and withdrawn',
    IMPROVE_ONLY: 'quotes may only become better',
    FINAL: 'quotes may not be changed or withdrawn',
  }),
  result_disclosure: words<ResultDisclosure>({
    OWN_RESULT: 'a loser learns that it lost',
    WINNING_PRICE: 'and the (worst) price that won',
    WINNING_PRICE_AND_RANK: 'and its own rank',
  }),
  routes: listOf(
    recordOf<Route>({ venue: anyText, contract_id: anyText, outcome: anyText, title: anyText }),
    { min: 1, max: 8 },
  ),
  price_tick_atoms: positive,
  min_price_atoms: positive,
  max_price_atoms: positive,
  quantity_step_atoms: positive,
  opened_at: moment,
  closes_at: moment,
  closed_at: optional(moment),
  completed_at: optional(moment),
};

const awardFields: ShapesOf<OwnAwardView> = {
  award_id: uuid,
  price_atoms: positive,
  quantity_atoms: positive,
  execution_status: executionStatus,
};

export const award: Shape = named(
  'Award',
  recordOf<AwardView>({
    quantity_atoms: positive,
    average_price_atoms: positive,
    awards: listOf(recordOf<AwardRow>({ ...awardFields, market_maker: party }), { min: 1, max: 16 }),
  }),
);

const originatorView = named(
  'OriginatorAuction',
  recordOf<OriginatorView>({
    ...shared,
    role: constant('ORIGINATOR'),
    limit_price_atoms: optional(positive),
    min_fill_quantity_atoms: positive,
    client_reference: optional(anyText),
    identity_policy: recordOf<OriginatorView['identity_policy']>({
      originator: words<OriginatorIdentity>({
        ANONYMOUS: 'an alias, new for every auction',
        DISCLOSED: 'known to every maker',
        WINNER_ONLY: 'known to winners, from the award on',
      }),
      market_makers: words<MakerIdentity>({
        ANONYMOUS: 'aliases, new for every auction',
        DISCLOSED_AFTER_AWARD: 'winners are known to the originator',
      }),
    }),
    execution_deadline_ms: integerFrom(5_000, 900_000),
    audience: record({
      invited_count: integerFrom(1, 64),
      market_maker_ids: listOf(uuid, { min: 1, max: 64 }),
    }),
    award: optional(award),
    cancellation: optional(
      recordOf<NonNullable<OriginatorView['cancellation']>>({
        cancelled_at: moment,
        cancelled_by: words<CancelledBy>({
          ORIGINATOR: 'its originator',
          OPERATOR: 'an operator',
          SYSTEM: 'the service, because a market has stopped trading for good',
        }),
        reason: optional(anyText),
      }),
    ),
  }),
);

const makerView = named(
  'MakerAuction',
  recordOf<MakerView>({
    ...shared,
    role: constant('MARKET_MAKER'),
    originator: party,
    my_quote: optional(quote),
    award: optional(named('OwnAward', recordOf<OwnAwardView>(awardFields))),
    cancellation: optional(record({ cancelled_at: moment })),
  }),
);

/** An originator always gets the originator's view of its own auction. */
export const ownAuction = originatorView;
export const auction: Shape = named('Auction', oneOf([originatorView, makerView]));

export const auctionPage: Shape = named(
  'AuctionPage',
  record({ auctions: listOf(auction, { max: 50 }), next_cursor: optional(anyText) }),
);
