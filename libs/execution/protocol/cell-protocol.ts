import type { Instant } from '#libs/base/instant.js';
import type { LinkClient } from '#libs/link/link-client.js';
import type { MovementKind, TransferToken } from '../rules/events.js';
import type { CancelCause, OrderFailure, OrderFill, OrderTerms, VenueCall } from '../rules/order.js';
import type { MarketState } from '../rules/markets.js';
import type { Micros } from '../rules/micros.js';
import type { OrderKind, OrderSide } from '../rules/amounts.js';
import type { TimeInForce, VenueId } from '../rules/venues.js';

/** The messages of a cell. They travel as JSON with exact bigints (see `wire.ts`). Types here are those of the decoded values. */

/** The caller, as the gateway has verified it. */
export interface OrderCaller {
  readonly user_id: string;
  readonly request_id: string;
  /** The API key's client id. Absent for a session. */
  readonly client_id?: string;
  /** The key's own limit, if it has one. */
  readonly orders_per_minute?: number;
}

type OrderSelection = Readonly<{ venue?: VenueId; market_id?: string; token_id?: string; side?: OrderSide }>;

/** Requests of gateways. A refusal is a reply `{status, body: CellRefusal}`. */
export type TraderRequest = OrderCaller &
  (
    | {
        readonly op: 'submit';
        /** The cell assigns the `order_id`. */
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
    /** All live orders and the journal position that they include. A stream begins there. */
    | { readonly op: 'live_orders'; readonly venues?: readonly VenueId[] }
    | { readonly op: 'exposure'; readonly select: OrderSelection }
    | { readonly op: 'limits' }
    | { readonly op: 'trading_status'; readonly venue: VenueId }
    | { readonly op: 'links' }
    /** Takes one token of a rate limit for calls that are not orders. */
    | { readonly op: 'take_slot'; readonly limit: 'cancels' | 'reads' | 'rpc' | 'fee_quotes' }
    /** The number of sockets that a gateway has open for the user, or wants to open. */
    | { readonly op: 'sockets'; readonly gateway: string; readonly open: number }
    /** A `/ws` connection with cancel on disconnect was lost, was resumed, or was closed with a `bye`. */
    | {
        readonly op: 'connection';
        readonly connection_id: string;
        readonly how: 'LOST' | 'RESUMED' | 'BYE';
        readonly grace_ms: number;
        /** Numbers the sockets of one connection. The highest is the latest. */
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

/** One task for an executor. Tasks of one user, venue and market are given out one at a time. */
export type ExecutorTask = {
  readonly task_id: string;
  readonly user_id: string;
  readonly venue: VenueId;
  /** The account that is linked. Nothing is done with any other. */
  readonly account?: string;
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
      /** The order's own size, which an amend does not change. */
      readonly quantity: Micros;
      readonly not_after?: Instant;
    }
  /** Query the venue about an order in doubt, and read the account's fills since `since`. */
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
      /** Set if the transfer was sent before. Then only query its state. */
      readonly reference?: string;
    }
);

/** One order, as the venue reports it. */
export interface ObservedOrder {
  readonly exchange_order_id: string;
  readonly venue_client_id?: string;
  readonly status: 'resting' | 'filled' | 'cancelled' | 'expired' | 'rejected';
  /** Why the order ended, if the venue says so. */
  readonly ended_by?: 'market-closed' | 'expiry' | 'self-trade' | 'venue' | 'user';
  readonly price: Micros;
  readonly quantity: Micros;
  readonly filled: Micros;
}

/** One fill, as the venue reports it for the account. */
export interface ObservedFill {
  readonly exchange_order_id: string;
  /** Set if the venue reports it with the fill. */
  readonly venue_client_id?: string;
  readonly market_id: string;
  readonly outcome: string;
  readonly token_id?: string;
  readonly side: OrderSide;
  readonly fill: OrderFill;
}

/** The result of a task. */
export type TaskReport =
  /** The venue shows the order, after a submit or a query. */
  | {
      readonly what: 'placed';
      readonly order: ObservedOrder;
      readonly fills: readonly ObservedFill[];
      /** Why a market or IOC order found nothing, if the venue says so. */
      readonly unfilled?: 'empty' | 'beyond-bound' | 'own-order';
    }
  | { readonly what: 'refused'; readonly failure: OrderFailure }
  /** Proof that nothing reached the venue: the request was never sent, or the connection was refused. */
  | { readonly what: 'not-sent'; readonly failure: OrderFailure }
  /** The executor did not send the order, because the cell did not confirm it. The task may be given out again. */
  | { readonly what: 'returned' }
  | { readonly what: 'doubtful'; readonly reason: string }
  /** The venue did not know the order and had no fill of it, twice, one second apart, after the time in which it shows orders. */
  | { readonly what: 'absent' }
  | { readonly what: 'amended'; readonly price: Micros; readonly order?: ObservedOrder }
  | { readonly what: 'cancelled'; readonly order: ObservedOrder; readonly fills: readonly ObservedFill[] }
  /** A reconcile or transfer whose results were sent in separate requests. */
  | { readonly what: 'told' };

/** Requests of executors. */
export type ExecutorRequest =
  /** Waits until there are tasks. A task that is not reported before its lease ends is given out again. */
  | { readonly op: 'claim'; readonly executor: string; readonly max: number; readonly wait_ms: number }
  /** Sent before the first byte of an order, by the executor that has the task. A repeat gets the same answer. 409: do not send. */
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
  /** From the account's feed, or from a read by cursor. May repeat what the cell already knows. */
  | {
      readonly op: 'observed';
      readonly user_id: string;
      readonly venue: VenueId;
      /** The account that was read. What is seen of another than the linked one counts for nothing. */
      readonly account: string;
      readonly orders: readonly (ObservedOrder & {
        readonly market_id: string;
        readonly outcome: string;
        readonly outcome_index: number;
        readonly token_id?: string;
        readonly side: OrderSide;
      })[];
      readonly fills: readonly ObservedFill[];
      /** These are all resting orders. Any other order that the cell takes for resting must be queried. */
      readonly is_complete?: boolean;
    }
  /** The whole account at one moment, read after all its fills. The cell compares it with its records. */
  | {
      readonly op: 'balances';
      readonly user_id: string;
      readonly venue: VenueId;
      /** As for `observed`. */
      readonly account: string;
      /** The journal position of the executor's last report before it began to read. */
      readonly as_of: number;
      readonly cash: readonly { readonly asset: string; readonly value: Micros; readonly shard?: number }[];
      readonly tokens: readonly {
        readonly market_id: string;
        readonly outcome: string;
        readonly token_id?: string;
        readonly quantity: Micros;
      }[];
      /** Entries of the venue's statement since the last pass: payments, pairs and transfers. */
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
  /** Sent before credentials are stored. Refused while another account is in use. */
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
  /** The executor sees all calls to venues, so it keeps the breakers. It sends them with the venue's own status. */
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
  /** Operators changed the switches. Cells also poll for changes. */
  | { readonly op: 'switches_changed' }
  /** Finds the user of an order. */
  | { readonly op: 'order_owner'; readonly order_id: string }
  | { readonly op: 'reconciliation'; readonly user_id?: string; readonly venue?: VenueId }
  | { readonly op: 'cell_status' };

export interface OpenSocketCount {
  readonly user_id: string;
  readonly open: number;
}

/** Sent by each gateway at least every second: its open connections with cancel on disconnect. */
export interface GatewayPresence {
  readonly op: 'presence';
  /** Names this run of this gateway. */
  readonly gateway: string;
  /** All sockets of the cell's users. Absent in messages between two beats. */
  readonly sockets?: readonly OpenSocketCount[];
  readonly here: readonly {
    readonly connection_id: string;
    readonly grace_ms: number;
    readonly attachment: number;
  }[];
}

export type CellRequest = TraderRequest | ExecutorRequest | OperatorRequest | GatewayPresence;
export type CellLink = LinkClient<CellRequest>;

/** A refusal, before the gateway puts it into the response envelope. */
export interface OrderRefusal {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** In whole seconds. */
  readonly retry_after?: number;
}
