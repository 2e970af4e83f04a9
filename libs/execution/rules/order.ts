import type { Instant } from '#libs/base/instant.js';
import type { OrderKind, OrderSide } from './amounts.js';
import type { Liquidity } from './fees.js';
import type { PriceBand } from './markets.js';
import type { Micros } from './micros.js';
import type { TimeInForce, VenueId } from './venues.js';

export type OrderStatus =
  | 'queued'
  | 'submitting'
  | 'pending_venue'
  | 'open'
  | 'partially_filled'
  | 'cancel_requested'
  | 'filled'
  | 'cancelled'
  | 'expired'
  | 'failed';

export type TerminalReason =
  | 'FILLED'
  | 'USER'
  | 'CANCEL_ALL'
  | 'CANCEL_AFTER'
  | 'DISCONNECT'
  | 'UNFILLED_REMAINDER'
  | 'EXPIRED'
  | 'VENUE'
  | 'MARKET_CLOSED'
  | 'OPERATOR'
  | 'FAILED';

/** Why a cancel was requested. It becomes the terminal reason when the order ends. */
export type CancelCause = Extract<
  TerminalReason,
  'USER' | 'CANCEL_ALL' | 'CANCEL_AFTER' | 'DISCONNECT' | 'OPERATOR' | 'EXPIRED'
>;

export type OrderChannel = 'REST' | 'WS' | 'BATCH' | 'FIX' | 'EXTERNAL';
export type OrderSource = 'manual' | 'bot' | 'copytrade' | 'api';

/** The market data that an order needs while it is live. Without a step and bands, the venue's grid is unknown. */
export interface OrderMarket {
  readonly tick_size?: Micros;
  readonly bands?: readonly PriceBand[];
  readonly min_size: Micros;
  /** At venue b, the shard of its collateral. */
  readonly shard?: number;
  readonly closes_at: Instant;
}

/** The order as it was accepted. It never changes. */
export interface OrderTerms {
  readonly order_id: string;
  readonly user_id: string;
  readonly origin: 'sotto' | 'external';
  /** Absent only for external orders. */
  readonly client_order_id?: string;
  readonly venue: VenueId;
  readonly market_id: string;
  readonly token_id?: string;
  readonly outcome: string;
  /** 0 or 1: the index of the outcome in the market record. */
  readonly outcome_index: number;
  readonly side: OrderSide;
  readonly kind: OrderKind;
  readonly time_in_force: TimeInForce;
  readonly post_only: boolean;
  /** Rounded to the venue's grids. `requested` has the caller's own values. */
  readonly quantity: Micros;
  readonly price: Micros;
  readonly requested: { readonly quantity: Micros; readonly price: Micros };
  /** The worst price: the limit, or for a market order its price moved by the slippage. */
  readonly bound: Micros;
  readonly max_slippage_cents?: number;
  readonly max_slippage?: Micros;
  readonly expiration_minutes?: number;
  /** For GTD: when the order ends. */
  readonly expires_at?: Instant;
  readonly not_after?: Instant;
  readonly max_retries: number;
  readonly collateral: 'skip';
  readonly shard_funding: boolean;
  readonly source: OrderSource;
  readonly bot_id?: string;
  readonly channel: OrderChannel;
  /** The API key's client id, if one was used. */
  readonly client_id?: string;
  /** The `/ws` connection whose loss cancels the order. */
  readonly connection_id?: string;
  /** The canonical fields that must match when a command is repeated. */
  readonly content: string;
  readonly market: OrderMarket;
}

export interface OrderFill {
  readonly fill_id: string;
  readonly price: Micros;
  readonly quantity: Micros;
  readonly fee: Micros;
  /** Whether the fee came from the venue. Otherwise it comes from the fee schedule. */
  readonly is_fee_told: boolean;
  readonly liquidity: Liquidity;
  readonly venue_trade_id: string;
  readonly occurred_at: Instant;
}

export interface OrderFailure {
  readonly code: string;
  readonly message?: string;
}

/** One call to the venue, as the order's timeline shows it. */
export interface VenueCall {
  readonly operation: 'submit' | 'cancel' | 'amend' | 'read';
  /** Hash of the bytes that were sent, in hex. */
  readonly request_sha256: string;
  readonly signed_at?: Instant;
  readonly sent_at: Instant;
  readonly answered_at?: Instant;
  readonly http_status?: number;
  /** The venue's reply as JSON, or as text if it is not JSON. At most 16 KiB are kept. */
  readonly raw?: unknown;
}

export interface OrderState {
  readonly terms: OrderTerms;
  readonly status: OrderStatus;
  /** Rises by one with every change that callers see. */
  readonly version: number;
  /** The number of the order's events so far, including calls that changed nothing. */
  readonly seq: number;
  /** The present limit. An amend changes it. */
  readonly price: Micros;
  /** Our id for the order at the venue. Durable before the first byte is sent. */
  readonly venue_client_id?: string;
  readonly exchange_order_id?: string;
  readonly attempts: number;
  /** When the latest attempt began. The venue may have the order from then on. */
  readonly begun_at?: Instant;
  readonly sent?: { readonly quantity: Micros; readonly price: Micros };
  readonly filled: Micros;
  /** The sum of price times quantity over all fills, in units of 10^-12. */
  readonly filled_value: bigint;
  readonly fees: Micros;
  readonly are_fees_told: boolean;
  /** Ids of all booked fills, so that each is booked once. */
  readonly fill_ids: readonly string[];
  readonly accepted_at: Instant;
  readonly updated_at: Instant;
  readonly terminal_at?: Instant | undefined;
  /** A cancel that the venue has not answered. `before` is the status to return to. */
  readonly cancel?:
    | {
        readonly cause: CancelCause;
        readonly requested_at: Instant;
        readonly not_after?: Instant;
        readonly before: OrderStatus;
      }
    | undefined;
  readonly cancel_requested_at?: Instant | undefined;
  /** An amend that the venue has not answered, or whose answer could not be read. */
  readonly amend?:
    | {
        readonly amend_id: string;
        readonly price: Micros;
        readonly requested_at: Instant;
        readonly not_after?: Instant;
      }
    | undefined;
  readonly stalled_since?: Instant | undefined;
  readonly terminal_reason?: TerminalReason | undefined;
  readonly failure?: OrderFailure | undefined;
  /** When the last recorded call of each operation was sent: the same report may arrive again after a restart of the cell. */
  readonly recorded_calls?: Readonly<Partial<Record<VenueCall['operation'], Instant>>>;
  readonly raw: unknown;
}

const TERMINAL: ReadonlySet<OrderStatus> = new Set(['filled', 'cancelled', 'expired', 'failed']);
const UNPLACED: ReadonlySet<OrderStatus> = new Set(['queued', 'submitting', 'pending_venue']);

export function isTerminal({ status }: Pick<OrderState, 'status'>): boolean {
  return TERMINAL.has(status);
}

export function isRecorded({ recorded_calls }: OrderState, { operation, sent_at }: VenueCall): boolean {
  return recorded_calls?.[operation] === sent_at;
}

/** Whether the venue is not yet known to have the order. */
export function isUnplaced({ status }: Pick<OrderState, 'status'>): boolean {
  return UNPLACED.has(status);
}
