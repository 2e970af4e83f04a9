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

/** What is fixed when a market is listed. Its status is kept separately. */
export interface MarketTerms {
  readonly market_id: string;
  readonly title: string;
  readonly neg_risk: boolean;
  readonly outcomes: readonly [string, string];
  readonly token_ids?: readonly [string, string];
  readonly grid: PriceGrid;
  /** False if the venue trades on its grid but does not publish it. */
  readonly publishes_grid: boolean;
  readonly shard?: number;
  readonly contract_id?: string;
  readonly listed_at: Millis;
  readonly closes_at: Millis;
  /** Bots quote this market. Never true for markets created by request. */
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
 * All commands that change a venue. The log has one per line, with its time. Amounts are millionths in decimal
 * digits. A command with `once` is executed at most once under that name; see `VenueState.isDone`.
 */
export type VenueCommand = { readonly once?: string } & (
  | { readonly do: 'list'; readonly market: MarketTerms }
  /** Opens the account, or adds keys to it. The value of a key verifies its signatures. */
  | { readonly do: 'open'; readonly account: string; readonly keys: Readonly<Record<string, string>> }
  /** Money or shares from outside. */
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
      /** The remaining size from now on. */
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
  /** The bots cancel their quotes and quote again around a price of the first outcome. */
  | { readonly do: 'quote'; readonly market_id: string; readonly middle: PriceMicros }
);
export type CommandOf<Do extends VenueCommand['do']> = Extract<VenueCommand, { readonly do: Do }>;
export type LoggedCommand = VenueCommand & { readonly at: Millis };

export type CancelReason = 'user' | 'expired' | 'market-closed' | 'unfilled' | 'own-order';

/** An order as the venue has recorded it. */
export interface VenueOrder extends PlaceTerms {
  /** Quantity that has traded. */
  readonly filled: SizeMicros;
  readonly remaining: SizeMicros;
  readonly status: 'resting' | 'executed' | 'cancelled';
  readonly cause?: CancelReason;
  /** Sums over its trades, by liquidity, in dollars of its own outcome. */
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
  /** In dollars of its own outcome. */
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
  /** Price of the first outcome. */
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly at: Millis;
}

/** A change of an account other than by a trade. */
export interface Movement {
  readonly movement_id: string;
  readonly account: string;
  readonly kind: 'deposit' | 'transfer-in' | 'transfer-out' | 'pairs' | 'payout';
  readonly amount: Cash;
  /** The other account of the transfer. */
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
      /** Set for a placement, an amendment or a cancellation. */
      readonly order?: VenueOrder;
      /** Set for a placement or an amendment: its trades as taker. */
      readonly fills?: readonly VenueFill[];
      /** Set for a cancellation. */
      readonly taken_back?: SizeMicros;
    };

/** Events for followers of the venue, sent once they are on disk. */
export type VenueEvent =
  | { readonly what: 'order'; readonly order: VenueOrder }
  | { readonly what: 'fill'; readonly fill: VenueFill }
  | { readonly what: 'trade'; readonly trade: VenueTrade }
  | { readonly what: 'movement'; readonly movement: Movement }
  | { readonly what: 'book'; readonly market_id: string }
  | { readonly what: 'market'; readonly market_id: string; readonly status: MarketStatus };
