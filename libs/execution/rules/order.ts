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

/** Who wants an order to end, and so its terminal reason once it has. */
export type CancelCause = Extract<
  TerminalReason,
  'USER' | 'CANCEL_ALL' | 'CANCEL_AFTER' | 'DISCONNECT' | 'OPERATOR' | 'EXPIRED'
>;

export type OrderChannel = 'REST' | 'WS' | 'BATCH' | 'FIX' | 'EXTERNAL';
export type OrderSource = 'manual' | 'bot' | 'copytrade' | 'api';

/** What of a market an order needs as long as it lives. Neither a step nor bands: the venue's grid is not known. */
export interface OrderMarket {
  readonly tick_size?: Micros;
  readonly bands?: readonly PriceBand[];
  readonly min_size: Micros;
  /** On venue b, where its collateral lies. */
  readonly shard?: number;
  readonly closes_at: Instant;
}

/** What was accepted. It never changes. */
export interface OrderTerms {
  readonly order_id: string;
  readonly user_id: string;
  readonly origin: 'sotto' | 'external';
  /** Absent only of external orders. */
  readonly client_order_id?: string;
  readonly venue: VenueId;
  readonly market_id: string;
  readonly token_id?: string;
  readonly outcome: string;
  /** 0 or 1: the place of the outcome in the market record. */
  readonly outcome_index: number;
  readonly side: OrderSide;
  readonly kind: OrderKind;
  readonly time_in_force: TimeInForce;
  readonly post_only: boolean;
  /** As cut to the venue's grids; `requested` is what the caller wrote. */
  readonly quantity: Micros;
  readonly price: Micros;
  readonly requested: { readonly quantity: Micros; readonly price: Micros };
  /** The worst price: the limit, or of a market order its price moved by the slippage. */
  readonly bound: Micros;
  readonly max_slippage_cents?: number;
  readonly max_slippage?: Micros;
  readonly expiration_minutes?: number;
  /** Of GTD: when it ends. */
  readonly expires_at?: Instant;
  readonly not_after?: Instant;
  readonly max_retries: number;
  readonly collateral: 'skip';
  readonly shard_funding: boolean;
  readonly source: OrderSource;
  readonly bot_id?: string;
  readonly channel: OrderChannel;
  /** The API key's client id, where one was used. */
  readonly client_id?: string;
  /** The /ws connection that cancels it when it is lost. */
  readonly connection_id?: string;
  /** Compares repeats: canonical fields, less those that do not count. */
  readonly content: string;
  readonly market: OrderMarket;
}

export interface OrderFill {
  readonly fill_id: string;
  readonly price: Micros;
  readonly quantity: Micros;
  readonly fee: Micros;
  /** The venue has told the fee; otherwise it is the schedule's. */
  readonly is_fee_told: boolean;
  readonly liquidity: Liquidity;
  readonly venue_trade_id: string;
  readonly occurred_at: Instant;
}

export interface OrderFailure {
  readonly code: string;
  readonly message?: string;
}

/** One exchange with the venue, as the order's timeline shows it. */
export interface VenueCall {
  readonly operation: 'submit' | 'cancel' | 'amend' | 'read';
  /** Hex of the bytes that were sent. */
  readonly request_sha256: string;
  readonly signed_at?: Instant;
  readonly sent_at: Instant;
  readonly answered_at?: Instant;
  readonly http_status?: number;
  /** The venue's reply as JSON, or as text where it is none. Kept to 16 KiB. */
  readonly raw?: unknown;
}

export interface OrderState {
  readonly terms: OrderTerms;
  readonly status: OrderStatus;
  /** Rises by one with every change that callers see. */
  readonly version: number;
  /** The number of the order's events so far, of calls that changed nothing as well. */
  readonly seq: number;
  /** The limit in force; an amend changes it. */
  readonly price: Micros;
  /** The id by which the venue will know the order. Durable before the first byte is sent. */
  readonly venue_client_id?: string;
  readonly exchange_order_id?: string;
  readonly attempts: number;
  /** When the latest attempt was begun: the venue may have the order from then on. */
  readonly begun_at?: Instant;
  readonly sent?: { readonly quantity: Micros; readonly price: Micros };
  readonly filled: Micros;
  /** The sum of price times quantity over all fills, in millionths of millionths. */
  readonly filled_value: bigint;
  readonly fees: Micros;
  readonly are_fees_told: boolean;
  /** So that each fill is booked once. */
  readonly fill_ids: readonly string[];
  readonly accepted_at: Instant;
  readonly updated_at: Instant;
  readonly terminal_at?: Instant | undefined;
  /** A cancel that the venue has not answered; `before` is the status to return to. */
  readonly cancel?:
    | {
        readonly cause: CancelCause;
        readonly requested_at: Instant;
        readonly not_after?: Instant;
        readonly before: OrderStatus;
      }
    | undefined;
  readonly cancel_requested_at?: Instant | undefined;
  /** An amend that the venue has not answered, or not readably. */
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

/** Whether the venue is not known to have it yet. */
export function isUnplaced({ status }: Pick<OrderState, 'status'>): boolean {
  return UNPLACED.has(status);
}
