import { createHash } from 'node:crypto';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import type { ObservedFill, ObservedOrder } from '../../protocol/cell-protocol.js';
import type { Micros } from '../../rules/micros.js';
import type { OrderTerms } from '../../rules/order.js';
import { doubt, goodAnswer, reasonOf, unanswered, type RequestOutcome } from '../answers.js';
import {
  VenueUnavailable,
  type AccountMovement,
  type AmendOutcome,
  type CancelOutcome,
  type ObservedAccountOrder,
  type OrderName,
  type SubmitOutcome,
  type VenueExchange,
  type VenueAccount,
  type VenueBalances,
} from '../port.js';
import { assetOf, millisOf, sideOf, tokenIdOf } from './amounts.js';
import { PolledFeed, type PolledFeedPorts } from './polled-feed.js';
import type { VenueEMarkets } from './markets.js';
import { CLOCK_MARGIN_MILLIS, type VenueEMoney } from './money.js';
import {
  failureOf,
  isExpired,
  isGone,
  isKnownAlready,
  isUnmatched,
  observedFill,
  observedOrder,
  orderAction,
  rests,
  sentOf,
} from './orders.js';
import type { VenueERequests } from './requests.js';
import {
  exchangeReply,
  fills,
  openOrders,
  orderStatus,
  type VenueEFill,
  type VenueEOrder,
  type VenueEStatus,
} from './shapes.js';

const MOST_FILLS = 2_000;
const CLOID_DIGITS = 32;
const TOO_MANY = 429;
const UNREADABLE = 422;

export interface EAccountParts {
  readonly requests: VenueERequests;
  readonly markets: VenueEMarkets;
  readonly money: VenueEMoney;
  readonly feed: PolledFeedPorts;
}

/** One user's account at the venue. The agent signs orders; the account's own key signs transfers of money. */
export class VenueEAccount implements VenueAccount {
  readonly transfer: VenueEMoney['transfer'];
  readonly transferred: VenueEMoney['transferred'];

  constructor(
    private readonly owner: { readonly user_id: string; readonly account: string },
    private readonly parts: EAccountParts,
  ) {
    const { money } = parts;
    this.transfer = (input) => money.transfer(input);
    this.transferred = (reference) => money.transferred(reference);
  }

  get account(): string {
    return this.owner.account;
  }

  /** 128 bits, computed from the order and the attempt alone. */
  clientIdOf(order_id: string, attempt: number): string {
    const digest = createHash('sha256').update(`${order_id}/${attempt}`).digest('hex');
    return `0x${digest.slice(0, CLOID_DIGITS)}`;
  }

  sentOf(terms: OrderTerms): { readonly quantity: Micros; readonly price: Micros } {
    return sentOf(terms);
  }

  async submit(terms: OrderTerms, venue_client_id: string): Promise<VenueExchange<SubmitOutcome>> {
    const { requests, feed } = this.parts;
    feed.wake(this.owner.account);
    const { outcome, call } = await requests.act({
      ...{ user_id: this.owner.user_id, order_id: terms.order_id, by: 'agent', operation: 'submit' },
      action: orderAction(terms, sentOf(terms), venue_client_id),
      nonce: requests.nextNonce(),
      ...(terms.not_after === undefined ? {} : { expires_after: millisOf(terms.not_after) }),
    });
    return { outcome: await this.submitted(outcome, terms, venue_client_id), call };
  }

  private async submitted(outcome: RequestOutcome, terms: OrderTerms, cloid: string): Promise<SubmitOutcome> {
    if (outcome.what !== 'answered') return unanswered(outcome);
    if (outcome.status === TOO_MANY)
      return { what: 'refused', failure: { code: 'EXCHANGE_VENUEE_RATE_LIMITED' } };
    if (outcome.status === UNREADABLE) return { what: 'refused', failure: { code: 'VENUE_REJECTED' } };
    const reply = goodAnswer(outcome, exchangeReply);
    if (reply === undefined) return { what: 'doubtful', reason: doubt(outcome) };
    if (reply.status === 'err') return refusedAction(reply.response, terms);
    const [status] = reply.response.data?.statuses ?? [];
    if (status === undefined) return { what: 'doubtful', reason: doubt(outcome) };
    return this.statusOutcome(status, terms, cloid);
  }

  private async statusOutcome(
    status: VenueEStatus,
    terms: OrderTerms,
    cloid: string,
  ): Promise<SubmitOutcome> {
    const { quantity, price } = sentOf(terms);
    const of = { venue_client_id: cloid, price, quantity };
    if (status === 'success') return { what: 'doubtful', reason: 'the answer is not one to an order' };
    if ('resting' in status) {
      const exchange_order_id = String(status.resting.oid);
      return { what: 'placed', order: { ...of, exchange_order_id, status: 'resting', filled: 0n } };
    }
    if ('filled' in status) {
      const { oid, totalSz: filled } = status.filled;
      const state = filled >= quantity ? 'filled' : rests(terms) ? 'resting' : 'cancelled';
      return { what: 'placed', order: { ...of, exchange_order_id: String(oid), status: state, filled } };
    }
    const { error } = status;
    if (isKnownAlready(error)) return { what: 'doubtful', reason: error };
    if (!isUnmatched(error)) return { what: 'refused', failure: failureOf(error, terms.side) };
    return this.unmatched(error, terms, cloid);
  }

  /** The refusal does not name the order, but the venue may still have it. */
  private async unmatched(error: string, terms: OrderTerms, cloid: string): Promise<SubmitOutcome> {
    try {
      const { outcome: order } = await this.order({ venue_client_id: cloid, terms });
      if (order === undefined) return { what: 'refused', failure: failureOf(error, terms.side) };
      const unfilled = /own account/i.test(error) ? 'own-order' : await this.whyUnfilled(terms, order.price);
      return { what: 'placed', order, unfilled };
    } catch (failure) {
      if (failure instanceof VenueUnavailable) return { what: 'doubtful', reason: failure.message };
      throw failure;
    }
  }

  /** The venue does not give the reason, so the book is read just after. */
  private async whyUnfilled(terms: OrderTerms, price: Micros): Promise<'empty' | 'beyond-bound'> {
    const { bid, ask } = await this.parts.markets.best(terms.market_id, terms.outcome_index);
    const other = terms.side === 'buy' ? ask : bid;
    if (other === undefined) return 'empty';
    const isBeyond = terms.side === 'buy' ? other > price : other < price;
    return isBeyond ? 'beyond-bound' : 'empty';
  }

  async cancel(name: OrderName): Promise<VenueExchange<CancelOutcome>> {
    const { terms, exchange_order_id: id, venue_client_id: cloid } = name;
    const asset = assetOf(terms);
    const action =
      id === undefined
        ? { type: 'cancelByCloid', cancels: [{ asset, cloid }] }
        : { type: 'cancel', cancels: [{ a: asset, o: Number(id) }] };
    const { requests } = this.parts;
    const { outcome, call } = await requests.act({
      ...{ user_id: this.owner.user_id, order_id: terms.order_id, by: 'agent', operation: 'cancel' },
      ...{ action, nonce: requests.nextNonce() },
    });
    return { outcome: await this.cancelled(outcome, name), call };
  }

  private async cancelled(outcome: RequestOutcome, name: OrderName): Promise<CancelOutcome> {
    if (outcome.what !== 'answered') return { ...reasonOf(outcome) };
    const reason = `the venue answered with ${outcome.status}`;
    // Too busy: the venue decided nothing about the order, and the cancel is still wanted.
    if (outcome.status === TOO_MANY) return { what: 'not-sent', reason };
    if (outcome.status === UNREADABLE) return { what: 'refused', reason };
    const reply = goodAnswer(outcome, exchangeReply);
    if (reply === undefined) return { what: 'doubtful', reason: doubt(outcome) };
    if (reply.status === 'err') return { what: 'refused', reason: reply.response };
    const [status] = reply.response.data?.statuses ?? [];
    if (typeof status === 'object' && 'error' in status) {
      return isGone(status.error) ? { what: 'gone' } : { what: 'refused', reason: status.error };
    }
    if (status !== 'success') return { what: 'doubtful', reason: doubt(outcome) };
    // Only the venue knows what was filled before the cancel, so the order is read again.
    try {
      const { outcome: found } = await this.order(name);
      return found === undefined ? { what: 'gone' } : { what: 'cancelled', order: found };
    } catch (error) {
      if (error instanceof VenueUnavailable) return { what: 'doubtful', reason: error.message };
      throw error;
    }
  }

  /** The venue cannot amend an order and keep its priority. For another price, cancel it and submit a new one. */
  amend({ terms }: OrderName): Promise<VenueExchange<AmendOutcome>> {
    const failure = { code: 'EXCHANGE_AMEND_UNSUPPORTED' };
    const call = this.parts.requests.unsentCall('amend', { order_id: terms.order_id });
    return Promise.resolve({ outcome: { what: 'refused', failure }, call });
  }

  async order(name: OrderName): Promise<VenueExchange<ObservedOrder | undefined>> {
    const oid = name.exchange_order_id === undefined ? name.venue_client_id : Number(name.exchange_order_id);
    const question = { type: 'orderStatus', user: this.owner.account, oid };
    const { outcome: found, call } = await this.parts.requests.readCall(question, orderStatus);
    if (found.status === 'unknownOid') return { outcome: undefined, call };
    return { outcome: observedOrder(found.order.order, found.order.status), call };
  }

  async openOrders(): Promise<readonly ObservedAccountOrder[]> {
    const question = { type: 'frontendOpenOrders', user: this.owner.account };
    const rows = await this.parts.requests.read(question, openOrders);
    const observed = await Promise.all(rows.map((row) => this.accountOrder(row, 'open')));
    return observed.filter((order) => order !== undefined);
  }

  /** Reads page after page. Each page begins at the last time of the page before, so some fills come twice. */
  async fills(since: Instant): Promise<readonly ObservedFill[]> {
    const found = new Map<string, ObservedFill>();
    let startTime = Math.max(0, millisOf(plusMillis(since, -CLOCK_MARGIN_MILLIS)));
    for (;;) {
      const question = { type: 'userFillsByTime', user: this.owner.account, startTime };
      const page = await this.parts.requests.read(question, fills);
      const before = found.size;
      for (const row of page) await this.addFill(found, row);
      const last = page.at(-1);
      if (last === undefined || page.length < MOST_FILLS) break;
      if (found.size === before) throw new VenueUnavailable('the pages of fills do not go on');
      startTime = last.time;
    }
    return [...found.values()];
  }

  balances(): Promise<VenueBalances> {
    return this.parts.money.balances();
  }

  movements(since: Instant): Promise<readonly AccountMovement[]> {
    return this.parts.money.movements(since);
  }

  transferReference(): string {
    return this.parts.money.transferReference();
  }

  follow(on: Parameters<VenueAccount['follow']>[0]): { close(): void } {
    const feed = new PolledFeed(this, on, this.parts.feed, this.owner.account);
    feed.start();
    return feed;
  }

  /** The present state of an order that was seen earlier. */
  async currentOrder({ exchange_order_id }: ObservedAccountOrder): Promise<ObservedAccountOrder | undefined> {
    const question = { type: 'orderStatus', user: this.owner.account, oid: Number(exchange_order_id) };
    const found = await this.parts.requests.read(question, orderStatus);
    if (found.status === 'unknownOid') return undefined;
    return this.accountOrder(found.order.order, found.order.status);
  }

  private async accountOrder(row: VenueEOrder, status: string): Promise<ObservedAccountOrder | undefined> {
    const side = sideOf(row.coin);
    if (side === undefined) return undefined;
    return {
      ...observedOrder(row, status),
      ...side,
      outcome: await this.parts.markets.label(side.market_id, side.outcome_index),
      ...{ token_id: tokenIdOf(side), side: row.side === 'B' ? 'buy' : 'sell' },
    };
  }

  private async addFill(found: Map<string, ObservedFill>, row: VenueEFill): Promise<void> {
    const side = sideOf(row.coin);
    if (side === undefined) return;
    const label = await this.parts.markets.label(side.market_id, side.outcome_index);
    const fill = observedFill(row, side, label);
    found.set(fill.fill.fill_id, fill);
  }
}

/** The venue refused the action before it looked at the order. */
function refusedAction(message: string, terms: OrderTerms): SubmitOutcome {
  if (isExpired(message)) return { what: 'not-sent', failure: { code: 'COMMAND_EXPIRED', message } };
  if (isKnownAlready(message)) return { what: 'doubtful', reason: message };
  return { what: 'refused', failure: failureOf(message, terms.side) };
}
