import type { Cash } from '../matching/accounts.js';
import type { FillLiquidity, MarketStatus, PlaceRefusal } from '../matching/exchange.js';
import type { PriceGrid } from '../matching/grid.js';
import type {
  BookSide,
  Lifetime,
  OutcomeIndex,
  PriceMicros,
  SizeMicros,
  TradeKind,
} from '../matching/order-book.js';

export const PRACTICE_VENUES = ['venue_b', 'venue_e'] as const;
export type PracticeVenueId = (typeof PRACTICE_VENUES)[number];
/** Milliseconds since 1970. */
export type Millis = number;

/** What a market is from its first day on. Its status is kept apart. */
export interface MarketTerms {
  readonly market_id: string;
  readonly title: string;
  readonly neg_risk: boolean;
  readonly outcomes: readonly [string, string];
  readonly token_ids?: readonly [string, string];
  readonly grid: PriceGrid;
  /** False: the venue trades on its grid and tells nobody what it is. */
  readonly publishes_grid: boolean;
  readonly shard?: number;
  readonly contract_id?: string;
  readonly listed_at: Millis;
  readonly closes_at: Millis;
  /** Bots quote it. Never true of a market that is made by call. */
  readonly seeded: boolean;
}

export interface PlaceTerms {
  readonly order_id: string;
  readonly client_id?: string;
  readonly account: string;
  readonly market_id: string;
  readonly outcome: OutcomeIndex;
  readonly side: BookSide;
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly lifetime: Lifetime;
  readonly post_only?: boolean;
  readonly expires_at?: Millis;
}

/**
 * All that can change a venue. The log is these, one a line, with their time; amounts are millionths in decimal digits.
 * `once`: a name under which it is done at most once (a nonce, a transfer's id); `VenueState.isDone` tells.
 */
export type VenueCommand = { readonly once?: string } & (
  | { readonly do: 'list'; readonly market: MarketTerms }
  /** Opens the account, or adds keys to one that is open. A key's value is what its signatures are verified with. */
  | { readonly do: 'open'; readonly account: string; readonly keys: Readonly<Record<string, string>> }
  /** Money from outside, or shares. */
  | {
      readonly do: 'credit';
      readonly account: string;
      readonly amount: string;
      readonly movement_id: string;
      readonly shares?: { readonly market_id: string; readonly outcome: OutcomeIndex };
    }
  | {
      readonly do: 'transfer';
      readonly movement_id: string;
      readonly from: string;
      readonly to: string;
      readonly amount: string;
      /** Shares instead of money. */
      readonly shares?: { readonly market_id: string; readonly outcome: OutcomeIndex };
    }
  | { readonly do: 'place'; readonly order: PlaceTerms }
  | { readonly do: 'cancel'; readonly order_id: string; readonly why: CancelReason }
  | {
      readonly do: 'amend';
      readonly order_id: string;
      readonly price: PriceMicros;
      /** What rests from now on. */
      readonly remaining: SizeMicros;
      readonly client_id?: string;
    }
  | {
      readonly do: 'status';
      readonly market_id: string;
      readonly status: Exclude<MarketStatus, 'resolved'>;
    }
  | {
      readonly do: 'resolve';
      readonly market_id: string;
      readonly payouts: readonly [PriceMicros, PriceMicros];
    }
  /** The bots take back what they quote and quote anew around a price of the first outcome. */
  | { readonly do: 'quote'; readonly market_id: string; readonly middle: PriceMicros }
);
export type CommandOf<Do extends VenueCommand['do']> = Extract<VenueCommand, { readonly do: Do }>;
export type LoggedCommand = VenueCommand & { readonly at: Millis };

export type CancelReason = 'user' | 'expired' | 'market-closed' | 'unfilled' | 'own-order';

/** An order as the venue knows it, as long as it lives. */
export interface VenueOrder extends PlaceTerms {
  /** What it trades up to, with what has traded. */
  readonly filled: SizeMicros;
  readonly remaining: SizeMicros;
  readonly status: 'resting' | 'executed' | 'cancelled';
  readonly cause?: CancelReason;
  /** Of its trades, by how it met them, in the dollars of its own outcome. */
  readonly cost: Readonly<Record<FillLiquidity, Cash>>;
  readonly fees: Readonly<Record<FillLiquidity, Cash>>;
  readonly placed_at: Millis;
  readonly updated_at: Millis;
}

export interface VenueFill {
  readonly trade_id: string;
  readonly order_id: string;
  readonly client_id?: string;
  readonly account: string;
  readonly market_id: string;
  readonly outcome: OutcomeIndex;
  readonly side: BookSide;
  /** In the dollars of its own outcome. */
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly fee: Cash;
  readonly liquidity: FillLiquidity;
  readonly at: Millis;
}

export interface VenueTrade {
  readonly trade_id: string;
  readonly market_id: string;
  readonly kind: TradeKind;
  readonly taker_outcome: OutcomeIndex;
  readonly taker_side: BookSide;
  /** Of the first outcome. */
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly at: Millis;
}

/** What changed an account otherwise than by a trade. */
export interface Movement {
  readonly movement_id: string;
  readonly account: string;
  readonly kind: 'deposit' | 'transfer-in' | 'transfer-out' | 'pairs' | 'payout';
  readonly amount: Cash;
  /** The account at the other end. */
  readonly with?: string;
  readonly market_id?: string;
  readonly outcome?: OutcomeIndex;
  readonly size?: SizeMicros;
  readonly at: Millis;
}

export type VenueRefusal =
  | PlaceRefusal
  | 'unknown-order'
  | 'unknown-account'
  | 'known'
  | 'not-resting'
  | 'duplicate-client-id'
  | 'resolved';

export type VenueReply =
  | { readonly ok: false; readonly refusal: VenueRefusal }
  | {
      readonly ok: true;
      /** Of a placement, an amendment, a cancellation. */
      readonly order?: VenueOrder;
      /** Of a placement or an amendment: what it traded at once, as taker. */
      readonly fills?: readonly VenueFill[];
      /** Of a cancellation. */
      readonly taken_back?: SizeMicros;
    };

/** What those that follow the venue are told, once it is on disk. */
export type VenueEvent =
  | { readonly what: 'order'; readonly order: VenueOrder }
  | { readonly what: 'fill'; readonly fill: VenueFill }
  | { readonly what: 'trade'; readonly trade: VenueTrade }
  | { readonly what: 'movement'; readonly movement: Movement }
  | { readonly what: 'book'; readonly market_id: string }
  | { readonly what: 'market'; readonly market_id: string; readonly status: MarketStatus };
