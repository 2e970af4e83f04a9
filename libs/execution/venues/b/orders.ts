import type { ObservedFill } from '../../protocol/cell-protocol.js';
import type { OrderFailure, OrderTerms } from '../../rules/order.js';
import type { OrderSide } from '../../rules/amounts.js';
import { instantFromNanos, NANOS_PER_MILLI, type Instant } from '#libs/base/instant.js';
import { fillId } from '../fill-id.js';
import { parsedJson } from '../http-exchange.js';
import type { ObservedAccountOrder } from '../port.js';
import { countText, dollarsText, inBook, outcomeLabel, ownPrice } from './amounts.js';
import { refusal, type BFill, type BOrder } from './shapes.js';

type TimeInForceWord = 'good_till_canceled' | 'immediate_or_cancel' | 'fill_or_kill';

/** A market order never rests in the book. */
function timeInForce({ kind, time_in_force: asked }: OrderTerms): TimeInForceWord {
  if (asked === 'FOK') return 'fill_or_kill';
  if (kind === 'market' || asked === 'IOC' || asked === 'FAK') return 'immediate_or_cancel';
  return 'good_till_canceled';
}

export function rests(terms: OrderTerms): boolean {
  return timeInForce(terms) === 'good_till_canceled';
}

export function newOrder(
  terms: OrderTerms,
  sent: { readonly quantity: bigint; readonly price: bigint },
  venue_client_id: string,
): object {
  const { side, price } = inBook({ ...terms, price: sent.price });
  const { expires_at: expires, market } = terms;
  return {
    ticker: terms.market_id,
    client_order_id: venue_client_id,
    side,
    count: countText(sent.quantity),
    price: dollarsText(price),
    time_in_force: timeInForce(terms),
    // The venue takes whole seconds. Rounding down never keeps an order longer than promised.
    ...(expires === undefined ? {} : { expiration_time: Math.floor(Date.parse(expires) / 1_000) }),
    ...(terms.post_only ? { post_only: true } : {}),
    ...(terms.side === 'sell' ? { reduce_only: true } : {}),
    self_trade_prevention_type: 'taker_at_cross',
    ...(market.shard === undefined ? {} : { exchange_index: market.shard }),
  };
}

interface Direction {
  readonly outcome_index: number;
  readonly side: OrderSide;
}

/** If the venue does not name the outcome, orders on both sides are taken as purchases. */
function directionOf({
  side,
  action,
  outcome_side,
}: Pick<BOrder, 'side' | 'action' | 'outcome_side'>): Direction {
  if (side && action) return { outcome_index: side === 'yes' ? 0 : 1, side: action };
  return { outcome_index: outcome_side === 'no' ? 1 : 0, side: 'buy' };
}

export function observedOrder(order: BOrder): ObservedAccountOrder {
  const direction = directionOf(order);
  const ended = endedBy(order);
  return {
    exchange_order_id: order.order_id,
    ...(order.client_order_id ? { venue_client_id: order.client_order_id } : {}),
    status: statusOf(order),
    ...(ended === undefined ? {} : { ended_by: ended }),
    price: ownPrice(direction.outcome_index, order.yes_price_dollars),
    quantity: order.initial_count_fp,
    filled: order.fill_count_fp,
    market_id: order.ticker,
    outcome: outcomeLabel(direction.outcome_index),
    ...direction,
  };
}

function statusOf(order: BOrder): ObservedAccountOrder['status'] {
  if (order.status === 'resting') return 'resting';
  if (order.fill_count_fp > 0n && order.fill_count_fp >= order.initial_count_fp) return 'filled';
  return hasExpired(order) ? 'expired' : 'cancelled';
}

const ENDED_BY: Readonly<Record<string, NonNullable<ObservedAccountOrder['ended_by']>>> = {
  user: 'user',
  expired: 'expiry',
  market_closed: 'market-closed',
  own_order: 'self-trade',
};

/** Why an order ended, if the venue gives the reason. */
export function endedBy({
  cancel_reason: reason,
}: Pick<BOrder, 'cancel_reason'>): ObservedAccountOrder['ended_by'] {
  return ENDED_BY[reason ?? ''];
}

/** The venue also reports expired orders as `canceled`. */
function hasExpired({ cancel_reason, expiration_time: expires, last_update_time: ended }: BOrder): boolean {
  if (cancel_reason) return cancel_reason === 'expired';
  return Boolean(expires) && Boolean(ended) && Date.parse(expires ?? '') <= Date.parse(ended ?? '');
}

export function observedFill(fill: BFill): ObservedFill {
  const { outcome_index, side } = directionOf(fill);
  return {
    exchange_order_id: fill.order_id,
    ...(fill.client_order_id ? { venue_client_id: fill.client_order_id } : {}),
    market_id: fill.ticker,
    outcome: outcomeLabel(outcome_index),
    side,
    fill: {
      fill_id: fillId('venue_b', { venue_trade_id: fill.trade_id, exchange_order_id: fill.order_id }),
      price: ownPrice(outcome_index, fill.yes_price_dollars),
      quantity: fill.count_fp,
      fee: fill.fee_cost ?? 0n,
      is_fee_told: fill.fee_cost !== undefined && fill.fee_cost !== null,
      liquidity: fill.is_taker ? 'taker' : 'maker',
      venue_trade_id: fill.trade_id,
      occurred_at: instantOf(fill.created_time),
    },
  };
}

export function instantOf(text: string): Instant {
  return instantFromNanos(BigInt(Date.parse(text)) * NANOS_PER_MILLI);
}

const FAILURES: Readonly<Record<string, string>> = {
  insufficient_balance: 'INSUFFICIENT_BALANCE',
  insufficient_position: 'INSUFFICIENT_POSITION',
  fill_or_kill_insufficient_resting_volume: 'FOK_NOT_FILLED',
  post_only_cross: 'POST_ONLY_WOULD_CROSS',
  self_trade: 'SELF_TRADE_PREVENTED',
  invalid_count: 'ORDER_TOO_SMALL',
  order_too_small: 'ORDER_TOO_SMALL',
  market_closed: 'VALIDATION_MARKET_CLOSED',
  market_not_active: 'VALIDATION_MARKET_CLOSED',
  market_inactive: 'VALIDATION_MARKET_CLOSED',
  trading_is_paused: 'EXCHANGE_TRADING_HALTED',
  exchange_is_paused: 'EXCHANGE_TRADING_HALTED',
  account_suspended: 'VENUE_ACCOUNT_SUSPENDED',
};
const TOO_MANY = 429;
/** These statuses come from a proxy or a restarting engine, so they decide nothing about the order. */
const NO_VERDICT: ReadonlySet<number> = new Set([408, 425]);

interface Refused {
  readonly failure: OrderFailure;
  /** The venue's own error code. */
  readonly code: string;
}

/** Undefined unless the venue refuses with a code of its own. Any other answer leaves open what it did. */
export function refusalOf(status: number, body: string): Refused | undefined {
  if (status < 400 || status >= 500 || NO_VERDICT.has(status)) return undefined;
  const read = refusal.safeParse(parsedJson(body));
  if (!read.success) return undefined;
  const { code, message } = read.data;
  const ours = status === TOO_MANY ? 'EXCHANGE_VENUEB_RATE_LIMITED' : (FAILURES[code] ?? 'VENUE_REJECTED');
  return { failure: { code: ours, message: message ?? code }, code };
}
