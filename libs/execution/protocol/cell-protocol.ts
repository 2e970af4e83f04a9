import type { Instant } from '#libs/base/instant.js';
import type { LinkClient } from '#libs/link/link-client.js';
import type { MovementKind, TransferToken } from '../rules/events.js';
import type { CancelCause, OrderFailure, OrderFill, OrderTerms, VenueCall } from '../rules/order.js';
import type { MarketState } from '../rules/markets.js';
import type { Micros } from '../rules/micros.js';
import type { OrderKind, OrderSide } from '../rules/amounts.js';
import type { TimeInForce, VenueId } from '../rules/venues.js';

/**
 * The messages of a cell. They travel as JSON with exact bigints, written and read by
 * `protocol/wire.ts`. Types here are those of the values after reading.
 */

/** Who asks, as the gateway has verified it. */
export interface OrderCaller {
  readonly user_id: string;
  readonly request_id: string;
  /** Absent for a session. */
  readonly client_id?: string;
  /** The limit of the key, where it has its own. */
  readonly orders_per_minute?: number;
}

type OrderSelection = Readonly<{ venue?: VenueId; market_id?: string; token_id?: string; side?: OrderSide }>;

/** Of the gateway. Refusals are replies `{status, body: RefusalBody}`. */
export type TraderRequest = OrderCaller &
  (
    | {
        readonly op: 'submit';
        /** Without `order_id`: the cell gives it. */
        readonly terms: Omit<OrderTerms, 'order_id'>;
        readonly market_status: MarketState;
      }
    | {
        readonly op: 'cancel';
        readonly order_id: string;
        readonly reason?: string;
        readonly not_after?: Instant;
      }
    | {
        readonly op: 'cancel_by_client_id';
        readonly venue: VenueId;
        readonly market_id: string;
        readonly client_order_id: string;
        readonly not_after?: Instant;
      }
    | {
        readonly op: 'cancel_all';
        readonly select: OrderSelection;
        readonly cause: CancelCause;
        readonly not_after?: Instant;
      }
    | { readonly op: 'cancel_after'; readonly timeout_ms: number; readonly venue?: VenueId }
    | {
        readonly op: 'amend';
        readonly order_id: string;
        readonly price: Micros;
        readonly not_after?: Instant;
      }
    | { readonly op: 'order' | 'order_fills' | 'orders_reconcile'; readonly order_id: string }
    | {
        readonly op: 'order_events';
        readonly order_id: string;
        readonly after_seq: number;
        readonly limit: number;
      }
    /** All live orders, and the position of the journal up to which they are told: where a stream begins. */
    | { readonly op: 'live_orders'; readonly venues?: readonly VenueId[] }
    | { readonly op: 'exposure'; readonly select: OrderSelection }
    | { readonly op: 'limits' }
    | { readonly op: 'trading_status'; readonly venue: VenueId }
    | { readonly op: 'links' }
    /** Takes one token of a limit that is not of orders: reads, cancels, rpc, fee_quotes. */
    | { readonly op: 'take_slot'; readonly limit: 'cancels' | 'reads' | 'rpc' | 'fee_quotes' }
    /** A gateway has so many sockets of the user, or asks for that many. */
    | { readonly op: 'sockets'; readonly gateway: string; readonly open: number }
    /** A /ws connection that asked for cancel on disconnect is lost, is back, or has said goodbye. */
    | {
        readonly op: 'connection';
        readonly connection_id: string;
        readonly how: 'LOST' | 'RESUMED' | 'BYE';
        readonly grace_ms: number;
        /** Of several sockets that had the connection the highest is the latest. */
        readonly attachment: number;
      }
    | {
        readonly op: 'transfer';
        readonly venue: VenueId;
        readonly asset: string;
        readonly token?: TransferToken;
        readonly amount: Micros;
        readonly direction: 'to_vault' | 'from_vault';
        readonly client_request_id: string;
      }
    | { readonly op: 'transfers'; readonly transfer_id?: string }
  );

/** One thing that an executor has to do. Tasks of one (user, venue, market) are given out one after the other. */
export type ExecutorTask = {
  readonly task_id: string;
  readonly user_id: string;
  readonly venue: VenueId;
} & (
  | { readonly kind: 'submit'; readonly terms: OrderTerms; readonly attempt: number }
  | {
      readonly kind: 'cancel';
      readonly terms: OrderTerms;
      readonly exchange_order_id?: string;
      readonly venue_client_id: string;
      readonly not_after?: Instant;
    }
  | {
      readonly kind: 'amend';
      readonly terms: OrderTerms;
      readonly amend_id: string;
      readonly exchange_order_id: string;
      readonly venue_client_id: string;
      readonly price: Micros;
      /** The size that stays: the order's own. */
      readonly quantity: Micros;
      readonly not_after?: Instant;
    }
  /** Ask the venue what became of an order in doubt, and read the account's fills since `since`. */
  | {
      readonly kind: 'query';
      readonly terms: OrderTerms;
      readonly venue_client_id: string;
      readonly exchange_order_id?: string;
      readonly since: Instant;
    }
  /** Compare the whole account: orders, fills, balances. */
  | { readonly kind: 'reconcile' }
  | {
      readonly kind: 'transfer';
      readonly transfer_id: string;
      readonly asset: string;
      readonly amount: Micros;
      readonly direction: 'to_vault' | 'from_vault';
      /** It was sent before: only ask what became of it. */
      readonly reference?: string;
    }
);

/** What the venue says of one order. */
export interface ObservedOrder {
  readonly exchange_order_id: string;
  readonly venue_client_id?: string;
  readonly status: 'resting' | 'filled' | 'cancelled' | 'expired' | 'rejected';
  /** Why it is no longer there, in our words, where the venue tells. */
  readonly ended_by?: 'market-closed' | 'expiry' | 'self-trade' | 'venue' | 'user';
  readonly price: Micros;
  readonly quantity: Micros;
  readonly filled: Micros;
}

/** A fill as the venue reports it, found by account and own order id. */
export interface ObservedFill {
  readonly exchange_order_id: string;
  /** Where the venue tells it with the fill. */
  readonly venue_client_id?: string;
  readonly market_id: string;
  readonly outcome: string;
  readonly token_id?: string;
  readonly side: OrderSide;
  readonly fill: OrderFill;
}

/** What came of a task. */
export type TaskReport =
  /** Of a submit or a query. `order` absent: the venue says that it does not know it. */
  | {
      readonly what: 'placed';
      readonly order: ObservedOrder;
      readonly fills: readonly ObservedFill[];
      /** Why a market order or an IOC found nothing, where the venue tells. */
      readonly unfilled?: 'empty' | 'beyond-bound' | 'own-order';
    }
  | { readonly what: 'refused'; readonly failure: OrderFailure }
  /** Proof that nothing reached the venue: it was never sent, or the connection was refused. */
  | { readonly what: 'not-sent'; readonly failure: OrderFailure }
  /** Of a submit: it was not sent, for want of the cell's word, and may be handed out again. */
  | { readonly what: 'returned' }
  | { readonly what: 'doubtful'; readonly reason: string }
  /** Twice, one second apart, after the window of visibility: not known by its own id, and in no fill. */
  | { readonly what: 'absent' }
  | { readonly what: 'amended'; readonly price: Micros; readonly order?: ObservedOrder }
  | { readonly what: 'cancelled'; readonly order: ObservedOrder; readonly fills: readonly ObservedFill[] }
  /** Of a reconcile: orders, fills and balances have been told by requests of their own. Of a transfer: its step has. */
  | { readonly what: 'told' };

/** Of the executor. */
export type ExecutorRequest =
  /** Waits until there is something to do. What one executor was given and has not reported is given out again once its lease ends. */
  | { readonly op: 'claim'; readonly executor: string; readonly max: number; readonly wait_ms: number }
  /** Before the first byte goes out, by whoever has the task; asked again it gets the same answer. 409: it is not to be sent any more. */
  | {
      readonly op: 'begin_submission';
      readonly executor: string;
      readonly task_id: string;
      readonly order_id: string;
      readonly venue_client_id: string;
      readonly sent: { readonly quantity: Micros; readonly price: Micros };
    }
  | {
      readonly op: 'report';
      readonly executor: string;
      readonly task_id: string;
      readonly order_id?: string;
      readonly call?: VenueCall;
      readonly report: TaskReport;
    }
  /** Of the account's feed, or of a read by cursor: may repeat what is known. */
  | {
      readonly op: 'observed';
      readonly user_id: string;
      readonly venue: VenueId;
      readonly orders: readonly (ObservedOrder & {
        readonly market_id: string;
        readonly outcome: string;
        readonly outcome_index: number;
        readonly token_id?: string;
        readonly side: OrderSide;
      })[];
      readonly fills: readonly ObservedFill[];
      /** The orders are all that rest there now: what is known to rest and is not among them has to be asked for. */
      readonly is_complete?: boolean;
    }
  /** The whole account at one moment, read after all its fills; the cell compares it with its records. */
  | {
      readonly op: 'balances';
      readonly user_id: string;
      readonly venue: VenueId;
      /** The cell's position that the executor had reported everything for when it began to read. */
      readonly as_of: number;
      readonly cash: readonly { readonly asset: string; readonly value: Micros; readonly shard?: number }[];
      readonly tokens: readonly {
        readonly market_id: string;
        readonly outcome: string;
        readonly token_id?: string;
        readonly quantity: Micros;
      }[];
      /** What the venue's own statement explains since the last pass: payments, pairs, transfers. */
      readonly movements: readonly {
        readonly reference: string;
        readonly movement: MovementKind | 'PAIRS' | 'PAYOUT' | 'COLLATERAL' | 'OURS';
        readonly asset: string;
        readonly amount: Micros;
        readonly market_id?: string;
        readonly outcome?: string;
        readonly token_id?: string;
        readonly quantity?: Micros;
        readonly shard?: number;
        readonly occurred_at: Instant;
      }[];
    }
  /** Before credentials of another account take the place of those that are there. 409: something of the account is live. */
  | { readonly op: 'may_link'; readonly user_id: string; readonly venue: VenueId; readonly account: string }
  | {
      readonly op: 'link_account';
      readonly user_id: string;
      readonly venue: VenueId;
      readonly account: string;
    }
  | {
      readonly op: 'transfer_report';
      readonly user_id: string;
      readonly transfer_id: string;
      readonly step: 'sent' | 'completed' | 'failed';
      readonly reference?: string;
      readonly failure?: OrderFailure;
    }
  /** The executor sees all calls to venues, so it keeps the breakers; the venue's own status comes with them. */
  | { readonly op: 'venue_health'; readonly health: VenueHealth };

export interface BreakerKey {
  readonly venue: VenueId;
  readonly side: OrderSide;
  readonly kind: OrderKind;
  readonly time_in_force: TimeInForce;
}

export interface VenueHealth {
  readonly breakers: readonly (BreakerKey & {
    readonly state: 'open' | 'half_open';
    readonly until?: Instant;
  })[];
  readonly venues: readonly {
    readonly venue: VenueId;
    readonly mode: TradingMode;
    readonly since: Instant;
  }[];
}

export const TRADING_MODES = ['on', 'reduce_only', 'cancel_only', 'halted'] as const;
export type TradingMode = (typeof TRADING_MODES)[number];

export type OperatorRequest =
  /** The operators' switches have changed; cells also look by themselves. */
  | { readonly op: 'switches_changed' }
  /** Whose order it is. */
  | { readonly op: 'order_owner'; readonly order_id: string }
  | { readonly op: 'reconciliation'; readonly user_id?: string; readonly venue?: VenueId }
  | { readonly op: 'cell_status' };

export interface OpenSocketCount {
  readonly user_id: string;
  readonly open: number;
}

/** Of a gateway, at least every second: the connections that it has whose orders go with them. */
export interface GatewayPresence {
  readonly op: 'presence';
  /** Names this life of this gateway. */
  readonly gateway: string;
  /** All sockets of the cell's users; absent between two beats. */
  readonly sockets?: readonly OpenSocketCount[];
  readonly here: readonly {
    readonly connection_id: string;
    readonly grace_ms: number;
    readonly attachment: number;
  }[];
}

export type CellRequest = TraderRequest | ExecutorRequest | OperatorRequest | GatewayPresence;
export type CellLink = LinkClient<CellRequest>;

/** A refusal of the envelope, before the gateway writes it. */
export interface OrderRefusal {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** In whole seconds. */
  readonly retry_after?: number;
}
