import type { Instant } from '#libs/base/instant.js';
import type { Transfer } from '../rules/holdings.js';
import type { Micros } from '../rules/micros.js';
import type { OrderState, OrderStatus, TerminalReason } from '../rules/order.js';
import type { VenueId } from '../rules/venues.js';
import type { BreakerKey, ExecutorTask, OrderRefusal, TradingMode } from './cell-protocol.js';

/**
 * The replies of a cell, by operation. Decode bodies with `fromWire`. A record is what callers are shown and has no bigints.
 * A reply with any status but 200 has a `CellRefusal`.
 */
export interface CellReplies {
  readonly submit: SubmitReply;
  readonly cancel: CancelReply;
  readonly cancel_by_client_id: CancelReply;
  readonly cancel_all: CancelAllReply;
  readonly cancel_after: { readonly armed_until?: string };
  readonly amend: AmendReply;
  /** A full record. 404 if the cell has no such order. */
  readonly order: Readonly<Record<string, unknown>>;
  readonly orders_reconcile: Readonly<Record<string, unknown>>;
  readonly order_fills: { readonly fills: readonly Readonly<Record<string, unknown>>[] };
  /** A record. */
  readonly order_events: Readonly<Record<string, unknown>>;
  readonly live_orders: { readonly position: number; readonly orders: readonly OrderState[] };
  /** A record. */
  readonly exposure: Readonly<Record<string, unknown>>;
  readonly limits: { readonly limits: readonly LimitRow[]; readonly as_of: string };
  readonly trading_status: TradingStatus;
  readonly links: {
    readonly links: readonly {
      readonly venue: VenueId;
      readonly account: string;
      readonly linked_at: Instant;
    }[];
  };
  readonly take_slot: { readonly slots: ShownLimit };
  readonly sockets: Readonly<Record<string, never>>;
  readonly connection: Readonly<Record<string, never>>;
  /** Connections whose orders the cell has cancelled because it took the connections for lost. */
  readonly presence: { readonly lapsed: readonly string[] };
  readonly transfer: { readonly transfer: Transfer };
  readonly transfers: { readonly transfers: readonly Transfer[] };
  readonly claim: { readonly tasks: readonly ExecutorTask[] };
  readonly begin_submission: { readonly attempt: number };
  /** The journal position at which the report is durable. */
  readonly report: { readonly position: number };
  readonly observed: { readonly position: number };
  readonly balances: { readonly position: number };
  readonly link_account: { readonly linked_at: Instant };
  readonly transfer_report: { readonly position: number };
  readonly venue_health: Readonly<Record<string, never>>;
  readonly switches_changed: Readonly<Record<string, never>>;
  readonly order_owner: { readonly user_id: string };
  readonly reconciliation: ReconciliationReply;
  readonly cell_status: {
    readonly cell: number;
    readonly epoch: number;
    readonly journal_head: number;
    readonly live_orders: number;
    readonly users: number;
  };
}

/** The state of a rate limit, for response headers. */
export interface ShownLimit {
  readonly limit: string;
  readonly max: number;
  readonly remaining: number;
  readonly resets_at: Instant;
}

export interface CellRefusal extends OrderRefusal {
  readonly slots?: ShownLimit;
}

export interface SubmitReply {
  readonly order_id: string;
  readonly status: OrderStatus;
  readonly funding: null;
  /** The order existed already. `is_mismatch` says whether the repeated command differs from it. */
  readonly is_replay: boolean;
  readonly is_mismatch: boolean;
  readonly slots?: ShownLimit;
}

/** Shown to callers unchanged. */
export interface CancelReply {
  readonly order_id: string;
  readonly status: OrderStatus;
  readonly success: boolean;
  readonly filled_quantity: string;
  readonly remaining_quantity: string;
  readonly terminal_reason?: TerminalReason;
  readonly message?: string;
}

/** Callers also see the mode. */
export interface CancelAllReply {
  readonly requested: number;
  readonly cancelled: number;
  readonly pending: number;
  readonly failed: readonly { readonly order_id: string; readonly code: string; readonly message: string }[];
  readonly as_of: string;
}

export interface AmendReply {
  readonly success: boolean;
  readonly exchange_order_id?: string;
  readonly price?: Micros;
  readonly quantity?: Micros;
  readonly message?: string;
  readonly slots?: ShownLimit;
}

/** Shown to callers unchanged. */
export interface LimitRow {
  readonly limit: string;
  readonly scope: 'USER' | 'KEY';
  readonly max: number;
  readonly window_ms: number;
  readonly remaining: number;
  readonly resets_at: string;
}

/** Shown to callers unchanged. */
export interface TradingStatus {
  readonly mode: TradingMode;
  readonly scope: 'global' | 'venue' | 'user';
  readonly since: string;
  readonly resumes_at?: string;
  readonly switches: readonly {
    readonly side?: string;
    readonly kind?: string;
    readonly tif?: string;
    readonly mode: TradingMode;
    readonly since: string;
    readonly resumes_at?: string;
  }[];
  readonly breakers: readonly (Pick<BreakerKey, 'side' | 'kind'> & {
    readonly tif: string;
    readonly state: 'open' | 'half_open';
    readonly until?: string;
  })[];
}

/** Covers the users of one cell. */
export interface ReconciliationReply {
  readonly differences: readonly {
    readonly user_id: string;
    readonly venue: VenueId;
    readonly asset: string;
    readonly recorded: Micros;
    readonly observed: Micros;
    readonly since: Instant;
  }[];
  readonly doubts: readonly {
    readonly user_id: string;
    readonly order_id: string;
    readonly since: Instant;
    readonly is_stalled: boolean;
  }[];
}
