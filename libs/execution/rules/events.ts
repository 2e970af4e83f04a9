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

/** Fields of every event of a cell. Each event belongs to one user. */
interface OfUser {
  readonly at: Instant;
  readonly user_id: string;
}
/** An event of one order. If it follows from a call to the venue, it carries that call. */
interface OfOrder extends OfUser {
  readonly order_id: string;
  readonly call?: VenueCall;
}
/** An event about a user's holdings at one venue. */
interface OfVenue extends OfUser {
  readonly venue: VenueId;
}

export type OrderEvent = OfOrder &
  (
    | { readonly type: 'ORDER_ACCEPTED'; readonly terms: OrderTerms }
    /** An order at the venue that was not made here. Its fills follow as separate events. */
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
    /** It is unknown whether the venue has the order. */
    | { readonly type: 'SUBMISSION_DOUBTED'; readonly reason: string }
    /** The order is proven not to be at the venue. It is queued again, to be sent once more. */
    | { readonly type: 'SUBMISSION_REPEATED'; readonly failure: OrderFailure }
    /** The venue has the order. Fills in the same answer follow as separate events. */
    | { readonly type: 'ORDER_PLACED'; readonly exchange_order_id: string }
    | { readonly type: 'ORDER_FILLED'; readonly fill: OrderFill; readonly exchange_order_id: string }
    | {
        readonly type: 'CANCEL_REQUESTED';
        readonly cause: CancelCause;
        readonly reason?: string;
        readonly not_after?: Instant;
      }
    /** The venue refused the cancel, or it came too late. The order returns to its former status. */
    | { readonly type: 'CANCEL_REFUSED'; readonly message: string }
    | {
        readonly type: 'AMEND_REQUESTED';
        readonly amend_id: string;
        readonly price: Micros;
        readonly not_after?: Instant;
      }
    /** The venue has the new price. After an amend in doubt, this is the price that the venue shows. */
    | { readonly type: 'ORDER_AMENDED'; readonly amend_id: string; readonly price: Micros }
    | { readonly type: 'AMEND_REFUSED'; readonly amend_id: string; readonly message: string }
    /** Any end but `filled`, which follows from the fills. */
    | {
        readonly type: 'ORDER_ENDED';
        readonly status: 'cancelled' | 'expired' | 'failed';
        readonly terminal_reason: TerminalReason;
        readonly failure?: OrderFailure;
      }
    /** The order has waited too long for the venue, in spite of fresh queries. False when that is over. */
    | { readonly type: 'ORDER_STALLED'; readonly is_stalled: boolean }
    /** A call to the venue that changed nothing. */
    | { readonly type: 'CALL_RECORDED'; readonly call: VenueCall }
  );

/** How money or tokens came or went, other than by orders. */
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
  /** The settlement currency or a token id. */
  readonly asset: string;
  /** Absent for money. */
  readonly token?: TransferToken;
  readonly amount: Micros;
  /** From the trading domain into the vault, or from the vault. */
  readonly direction: 'to_vault' | 'from_vault';
  readonly client_request_id: string;
  readonly content: string;
}

export type HoldingEvent = OfVenue &
  (
    | { readonly type: 'VENUE_LINKED'; readonly account: string }
    /** A balance at the venue changed without an order of ours. A positive amount came in. */
    | {
        readonly type: 'BALANCE_MOVED';
        readonly movement: MovementKind;
        readonly entry_id: string;
        readonly asset: string;
        readonly amount: Micros;
        /** The shard of the collateral at venue b. */
        readonly shard?: number;
        readonly occurred_at: Instant;
      }
    /** The user's collateral moved between two shards of venue b. */
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
    /** The venue paid out the shares of a resolved market. */
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
    /** The venue's balance differs from our own records. Two passes without a difference end it. */
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

/** A timer that cancels live orders unless it is renewed. It survives a restart. */
export type TimerEvent = OfUser &
  (
    | {
        readonly type: 'CANCEL_TIMER_ARMED';
        /** `after/<venue or *>` for cancel-after, `connection/<id>` for cancel on disconnect. */
        readonly timer: string;
        /** Absent while the connection is open. The time runs from the moment when it is lost. */
        readonly due_at?: Instant;
        readonly venue?: VenueId;
        readonly connection_id?: string;
        readonly grace_ms?: number;
        /** The number of the latest socket of the connection. */
        readonly attachment?: number;
      }
    | { readonly type: 'CANCEL_TIMER_ENDED'; readonly timer: string; readonly was_due: boolean }
  );

/** Loads an ended order back into memory unchanged, because more events of it follow. */
export type RecallEvent = OfUser & { readonly type: 'ORDER_RECALLED'; readonly order: OrderState };

export type CellEvent = OrderEvent | HoldingEvent | TimerEvent | RecallEvent;
