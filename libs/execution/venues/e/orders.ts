import type { ObservedFill, ObservedOrder } from '../../protocol/cell-protocol.js';
import { isPriceOnGrid, tickAt } from '../../rules/markets.js';
import { leastOf, mostOf, onStep, ONE, printMicros, type Micros } from '../../rules/micros.js';
import type { OrderFailure, OrderTerms } from '../../rules/order.js';
import { fillId } from '../fill-id.js';
import { assetOf, instantOf, tokenIdOf, type MarketSide } from './amounts.js';
import type { VenueEFill, VenueEOrder } from './shapes.js';

const SMALLEST_TICK = 100n;

export interface SentToE {
  readonly quantity: Micros;
  readonly price: Micros;
}

/** Whole shares. We accept a bound of one dollar and the venue does not, so the nearest valid price is sent. */
export function sentOf(terms: OrderTerms): SentToE {
  const asked = terms.kind === 'market' ? terms.bound : terms.price;
  const least = tickAt(terms.market, 0n) ?? SMALLEST_TICK;
  const most = ONE - (tickAt(terms.market, ONE - 1n) ?? SMALLEST_TICK);
  const isKnownGrid = isPriceOnGrid(terms.market, asked) !== undefined;
  const price = isKnownGrid || asked >= ONE ? mostOf(least, leastOf(asked, most)) : asked;
  return { quantity: onStep(terms.quantity, ONE, 'down'), price };
}

/** Whether an unfilled remainder rests. GTD orders rest, and their cell cancels them in time. */
export function rests({ kind, time_in_force: tif }: Pick<OrderTerms, 'kind' | 'time_in_force'>): boolean {
  return kind === 'limit' && (tif === 'GTC' || tif === 'GTD');
}

/** The fields are in the order in which the venue hashes them. */
export function orderAction(
  terms: OrderTerms,
  { quantity, price }: SentToE,
  cloid: string,
): Record<string, unknown> {
  const tif = rests(terms) ? (terms.post_only ? 'Alo' : 'Gtc') : 'Ioc';
  const order = {
    ...{ a: assetOf(terms), b: terms.side === 'buy', p: printMicros(price), s: printMicros(quantity) },
    ...{ r: false, t: { limit: { tif } }, c: cloid },
  };
  return { type: 'order', orders: [order], grouping: 'na' };
}

const ENDED: Readonly<Record<string, ObservedOrder['ended_by']>> = {
  selfTradeCanceled: 'self-trade',
  outcomeSettledCanceled: 'market-closed',
  delistedCanceled: 'market-closed',
};

/** `canceled` means cancelled by the owner, or the remainder of an order that does not rest. */
export function observedOrder(order: VenueEOrder, status: string): ObservedOrder {
  const ended = ENDED[status] ?? (status === 'canceled' && order.tif !== 'Ioc' ? 'user' : undefined);
  return {
    exchange_order_id: String(order.oid),
    ...(order.cloid ? { venue_client_id: order.cloid } : {}),
    status: statusOf(status),
    ...(ended === undefined ? {} : { ended_by: ended }),
    ...{ price: order.limitPx, quantity: order.origSz, filled: order.origSz - order.sz },
  };
}

function statusOf(status: string): ObservedOrder['status'] {
  if (status === 'open' || status === 'triggered') return 'resting';
  if (status === 'filled') return 'filled';
  if (status === 'iocCancelRejected' || /cancel/i.test(status)) return 'cancelled';
  return 'rejected';
}

export function observedFill(fill: VenueEFill, side: MarketSide, outcome: string): ObservedFill {
  const exchange_order_id = String(fill.oid);
  const venue_trade_id = String(fill.tid);
  return {
    exchange_order_id,
    ...(fill.cloid ? { venue_client_id: fill.cloid } : {}),
    ...{ market_id: side.market_id, outcome, token_id: tokenIdOf(side) },
    side: fill.side === 'B' ? 'buy' : 'sell',
    fill: {
      fill_id: fillId('venue_e', { venue_trade_id, exchange_order_id }),
      ...{ price: fill.px, quantity: fill.sz, fee: fill.fee, is_fee_told: true },
      liquidity: fill.crossed ? 'taker' : 'maker',
      ...{ venue_trade_id, occurred_at: instantOf(fill.time) },
    },
  };
}

/** Our codes for the venue's messages. All are documented except those on nonces, expiry, halts and rates. */
const FAILURES: readonly (readonly [words: RegExp, code: string])[] = [
  [/post only/i, 'POST_ONLY_WOULD_CROSS'],
  [/invalid size|minimum value/i, 'ORDER_TOO_SMALL'],
  [/invalid asset|halted|paused|settled/i, 'VALIDATION_MARKET_CLOSED'],
  [/does not exist|must deposit/i, 'EXCHANGE_NOT_LINKED'],
  [/too many cumulative requests/i, 'EXCHANGE_VENUEE_RATE_LIMITED'],
];

export function failureOf(message: string, side: OrderTerms['side']): OrderFailure {
  if (/insufficient/i.test(message)) {
    return { code: side === 'sell' ? 'INSUFFICIENT_POSITION' : 'INSUFFICIENT_BALANCE', message };
  }
  const [, code = 'VENUE_REJECTED'] = FAILURES.find(([words]) => words.test(message)) ?? [];
  return { code, message };
}

/** The order was accepted and found nothing to trade with. */
export function isUnmatched(message: string): boolean {
  return /could not immediately match|own account|no liquidity/i.test(message);
}

/** The order has ended already, or never existed. */
export function isGone(message: string): boolean {
  return /never placed, already canceled, or filled/i.test(message);
}

/** The venue knows the id or the nonce, so an earlier request with it may have been executed. */
export function isKnownAlready(message: string): boolean {
  return /nonce|cloid/i.test(message);
}

export function isExpired(message: string): boolean {
  return /expired|expiresAfter/i.test(message);
}
