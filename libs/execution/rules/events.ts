import type { Instant } from '#libs/base/instant.js';
import type { Micros } from './micros.js';
import type {
  CancelCause,
  OrderFailure,
  OrderFill,
  OrderState,
  OrderTerms,
  TerminalReason,
  VenueCall,
} from './order.js';
import type { VenueId } from './venues.js';

/** What every event of a cell has: each belongs to one user. */
interface OfUser {
  readonly at: Instant;
  readonly user_id: string;
}
/** An event of one order. Where the venue was asked, the call stands beside what came of it. */
interface OfOrder extends OfUser {
  readonly order_id: string;
  readonly call?: VenueCall;
}
/** An event of what a user holds at one venue. */
interface OfVenue extends OfUser {
  readonly venue: VenueId;
}

export type OrderEvent = OfOrder &
  (
    | { readonly type: 'ORDER_ACCEPTED'; readonly terms: OrderTerms }
    /** An order that the venue shows and we did not make, as it stands there. Fills follow as events of their own. */
    | {
        readonly type: 'EXTERNAL_ORDER_FOUND';
        readonly terms: OrderTerms;
        readonly exchange_order_id: string;
      }
    | {
        readonly type: 'SUBMISSION_STARTED';
        readonly attempt: number;
        readonly venue_client_id: string;
        readonly sent: { readonly quantity: Micros; readonly price: Micros };
      }
    /** It is not known whether the venue has the order. */
    | { readonly type: 'SUBMISSION_DOUBTED'; readonly reason: string }
    /** Proven not to be on the venue, and to be sent again: queued once more. */
    | { readonly type: 'SUBMISSION_REPEATED'; readonly failure: OrderFailure }
    /** The venue has it. Fills that came with the answer follow as events of their own. */
    | { readonly type: 'ORDER_PLACED'; readonly exchange_order_id: string }
    | { readonly type: 'ORDER_FILLED'; readonly fill: OrderFill; readonly exchange_order_id: string }
    | {
        readonly type: 'CANCEL_REQUESTED';
        readonly cause: CancelCause;
        readonly reason?: string;
        readonly not_after?: Instant;
      }
    /** The venue refused, or the command came too late: the order is as it was before. */
    | { readonly type: 'CANCEL_REFUSED'; readonly message: string }
    | {
        readonly type: 'AMEND_REQUESTED';
        readonly amend_id: string;
        readonly price: Micros;
        readonly not_after?: Instant;
      }
    /** The venue has the new price; of a doubted amend, the price that the venue shows. */
    | { readonly type: 'ORDER_AMENDED'; readonly amend_id: string; readonly price: Micros }
    | { readonly type: 'AMEND_REFUSED'; readonly amend_id: string; readonly message: string }
    /** Not filled: that follows from the fills. */
    | {
        readonly type: 'ORDER_ENDED';
        readonly status: 'cancelled' | 'expired' | 'failed';
        readonly terminal_reason: TerminalReason;
        readonly failure?: OrderFailure;
      }
    /** It waits for the venue for too long, in spite of fresh queries; `false` when that is over. */
    | { readonly type: 'ORDER_STALLED'; readonly is_stalled: boolean }
    /** An exchange with the venue that changed nothing. */
    | { readonly type: 'CALL_RECORDED'; readonly call: VenueCall }
  );

/** Where money or tokens came from, or went to, other than by orders. */
export type MovementKind = 'DEPOSIT' | 'WITHDRAWAL' | 'EXTERNAL_TRANSFER' | 'EXTERNAL_REDEMPTION';

export interface TransferToken {
  /** Contract and outcome of the auctions. */
  readonly vault_asset: string;
  readonly market_id: string;
  readonly outcome: string;
}

export interface TransferTerms {
  readonly transfer_id: string;
  readonly venue: VenueId;
  /** The settlement currency, or a token id. */
  readonly asset: string;
  /** Absent for money. */
  readonly token?: TransferToken;
  readonly amount: Micros;
  /** Out of the trading domain into the vault, or the other way. */
  readonly direction: 'to_vault' | 'from_vault';
  readonly client_request_id: string;
  readonly content: string;
}

export type HoldingEvent = OfVenue &
  (
    | { readonly type: 'VENUE_LINKED'; readonly account: string }
    /** Balances at the venue differ by what we did not cause. Positive comes in. */
    | {
        readonly type: 'BALANCE_MOVED';
        readonly movement: MovementKind;
        readonly entry_id: string;
        readonly asset: string;
        readonly amount: Micros;
        /** Shard of the collateral on venue b. */
        readonly shard?: number;
        readonly occurred_at: Instant;
      }
    /** Collateral of the user moved between two shards of venue b. */
    | {
        readonly type: 'COLLATERAL_MOVED';
        readonly from_shard: number;
        readonly to_shard: number;
        readonly amount: Micros;
        readonly reference: string;
      }
    /** The venue paid one dollar for each pair of both outcomes that no order had reserved. */
    | {
        readonly type: 'PAIRS_PAID';
        readonly market_id: string;
        readonly shard?: number;
        readonly quantity: Micros;
        readonly reference: string;
      }
    /** The venue paid what a resolved market owed, share by share. */
    | {
        readonly type: 'POSITION_PAID';
        readonly market_id: string;
        readonly outcome: string;
        readonly token_id?: string;
        readonly quantity: Micros;
        readonly payout: Micros;
        readonly shard?: number;
        readonly reference: string;
      }
    /** What the venue shows and the fold of our own records differ; two passes without a difference end it. */
    | {
        readonly type: 'DIFFERENCE_FOUND';
        readonly asset: string;
        readonly recorded: Micros;
        readonly observed: Micros;
      }
    | { readonly type: 'DIFFERENCE_ENDED'; readonly asset: string }
    | { readonly type: 'TRANSFER_HELD'; readonly terms: TransferTerms }
    | { readonly type: 'TRANSFER_SENT'; readonly transfer_id: string; readonly reference: string }
    | { readonly type: 'TRANSFER_COMPLETED'; readonly transfer_id: string; readonly reference: string }
    | { readonly type: 'TRANSFER_FAILED'; readonly transfer_id: string; readonly failure: OrderFailure }
  );

/** One kind of timer: cancels what is live unless it is renewed. It survives a restart. */
export type TimerEvent = OfUser &
  (
    | {
        readonly type: 'CANCEL_TIMER_ARMED';
        /** `after/<venue or *>` of cancel-after, `connection/<id>` of a socket whose orders go with it. */
        readonly timer: string;
        /** Absent while the connection is there: it runs from when that is lost. */
        readonly due_at?: Instant;
        readonly venue?: VenueId;
        readonly connection_id?: string;
        readonly grace_ms?: number;
        /** Of the latest socket that had the connection. */
        readonly attachment?: number;
      }
    | { readonly type: 'CANCEL_TIMER_ENDED'; readonly timer: string; readonly was_due: boolean }
  );

/** An order that memory has let go stands in it again as it was, because something more is told of it: events of its own follow. */
export type RecallEvent = OfUser & { readonly type: 'ORDER_RECALLED'; readonly order: OrderState };

export type CellEvent = OrderEvent | HoldingEvent | TimerEvent | RecallEvent;
