import type { Instant } from '#libs/base/instant.js';
import { remainingOf } from './evolve.js';
import { failureRecord } from './failures.js';
import { dividedBy, printMicros, type Micros } from './micros.js';
import type { OrderFill, OrderState } from './order.js';
import { CAPABILITIES } from './venues.js';

const MILLIS_END = 23;

/** RFC 3339 UTC with milliseconds, like all times of the interface. */
export function printTime(instant: Instant): string {
  return `${instant.slice(0, MILLIS_END)}Z`;
}

/** An object with one member, or without it if the value is undefined. */
function optional(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

function optionalTime(name: string, at: Instant | undefined): Record<string, unknown> {
  return at === undefined ? {} : { [name]: printTime(at) };
}

/** The order as callers read it. Rows of lists leave out the venue's reply and the metadata. */
export function orderRecord(state: OrderState, shape: 'full' | 'row'): Record<string, unknown> {
  const { terms } = state;
  const isFull = shape === 'full';
  return {
    ...termsRecord(state),
    ...progressRecord(state),
    ...timesRecord(state),
    settlement_status: 'not_applicable',
    ...optional('terminal_reason', state.terminal_reason),
    ...(state.status === 'failed' && state.failure !== undefined
      ? { failure: failureRecord(state.failure) }
      : {}),
    version: state.version,
    raw: isFull ? state.raw : null,
    metadata: isFull ? { channel: terms.channel, ...optional('client_id', terms.client_id) } : null,
  };
}

function termsRecord({ terms, price, exchange_order_id }: OrderState): Record<string, unknown> {
  return {
    order_id: terms.order_id,
    origin: terms.origin,
    ...optional('client_order_id', terms.client_order_id),
    exchange_id: terms.venue,
    ...optional('exchange_order_id', exchange_order_id),
    market_id: terms.market_id,
    ...optional('token_id', terms.token_id),
    outcome: terms.outcome,
    side: terms.side,
    kind: terms.kind,
    time_in_force: terms.time_in_force,
    post_only: terms.post_only,
    price: printMicros(price),
    quantity: printMicros(terms.quantity),
    requested: printAmounts(terms.requested),
    ...optional('max_slippage_cents', terms.max_slippage_cents),
    ...(terms.max_slippage === undefined ? {} : { max_slippage: printMicros(terms.max_slippage) }),
    ...optional('expiration_minutes', terms.expiration_minutes),
    max_retries: terms.max_retries,
    collateral: terms.collateral,
    funding: null,
    source: terms.source,
    ...optional('bot_id', terms.bot_id),
  };
}

function progressRecord(state: OrderState): Record<string, unknown> {
  const { sent, terms, fees, are_fees_told } = state;
  const average = averagePrice(state);
  return {
    ...(sent === undefined ? {} : { sent: printAmounts(sent) }),
    status: state.status,
    filled_quantity: printMicros(state.filled),
    remaining_quantity: printMicros(remainingOf(state)),
    ...(average === undefined ? {} : { average_fill_price: printMicros(average) }),
    fees: {
      amount: printMicros(fees),
      currency: CAPABILITIES[terms.venue].settlement_currency,
      source: are_fees_told ? 'venue' : 'estimate',
    },
    attempts: state.attempts,
    stalled: state.stalled_since !== undefined,
  };
}

function timesRecord(state: OrderState): Record<string, unknown> {
  return {
    ...optionalTime('not_after', state.terms.not_after),
    submittedAt: printTime(state.accepted_at),
    updated_at: printTime(state.updated_at),
    ...optionalTime('terminal_at', state.terminal_at),
    ...optionalTime('expires_at', state.terms.expires_at),
    ...optionalTime('cancel_requested_at', state.cancel_requested_at),
    ...optionalTime('stalled_since', state.stalled_since),
  };
}

function printAmounts({ quantity, price }: { readonly quantity: Micros; readonly price: Micros }): {
  quantity: string;
  price: string;
} {
  return { quantity: printMicros(quantity), price: printMicros(price) };
}

/** Rounded against the caller. */
function averagePrice({ filled, filled_value, terms }: OrderState): Micros | undefined {
  return filled === 0n ? undefined : dividedBy(filled_value, filled, terms.side === 'buy' ? 'up' : 'down');
}

/** One fill of an order as callers read it. */
export function fillRecord({ terms }: Pick<OrderState, 'terms'>, fill: OrderFill): Record<string, unknown> {
  return {
    fill_id: fill.fill_id,
    order_id: terms.order_id,
    exchange_id: terms.venue,
    market_id: terms.market_id,
    ...optional('token_id', terms.token_id),
    outcome: terms.outcome,
    side: terms.side,
    price: printMicros(fill.price),
    quantity: printMicros(fill.quantity),
    fee: { amount: printMicros(fill.fee), currency: CAPABILITIES[terms.venue].settlement_currency },
    liquidity: fill.liquidity,
    venue_trade_id: fill.venue_trade_id,
    settlement_status: 'not_applicable',
    occurred_at: printTime(fill.occurred_at),
  };
}
