import type { Clock } from '#libs/platform/time/clock.js';
import { plusMillis, type Instant } from '#libs/base/instant.js';
import type { ObservedFill, ObservedOrder } from '../../protocol/cell-protocol.js';
import { isPriceOnGrid, tickAt } from '../../rules/markets.js';
import { leastOf, mostOf, ONE, type Micros } from '../../rules/micros.js';
import type { OrderTerms } from '../../rules/order.js';
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
import { VenueBCancels } from './cancels.js';
import { SharedRead } from './shared-read.js';
import { countText, dollarsText, inBook, wholeCount } from './amounts.js';
import type { VenueBFeed } from './feed.js';
import { freeByShard, readBalances, readMovements } from './money.js';
import type { Transfers } from './transfers.js';
import { endedBy, newOrder, observedFill, observedOrder, refusalOf, rests } from './orders.js';
import { readPages } from './pages.js';
import type { VenueBRequests } from './requests.js';
import { amendedOrder, createdOrder, fillPage, oneOrder, orderPage, readAs } from './shapes.js';
import { bodyOf, doubt, goodAnswer, reasonOf, unanswered, type RequestOutcome } from '../answers.js';
import type { VenueBMarkets } from './markets.js';

const ORDERS = '/portfolio/events/orders';
/** Covers the difference between the venue's clock and ours, and the venue's times in whole seconds. */
const CLOCK_MARGIN_MILLIS = 2_000;
const DUPLICATE_CODES: ReadonlySet<string> = new Set(['order_already_exists', 'duplicate_client_order_id']);
const UNKNOWN_STATUS = 404;

export interface AccountParts {
  readonly requests: VenueBRequests;
  readonly markets: VenueBMarkets;
  readonly feed: VenueBFeed;
  readonly transfers: Transfers;
  readonly clock: Clock;
}

/** One user's account at the venue. */
export class VenueBAccount implements VenueAccount {
  readonly transfer: Transfers['transfer'];
  readonly transferred: Transfers['transferred'];
  readonly transferReference: Transfers['transferReference'];
  private readonly cancels: VenueBCancels;
  /** Free collateral is read before every purchase. */
  private readonly free: SharedRead<ReadonlyMap<number, Micros>>;

  constructor(
    private readonly owner: { readonly user_id: string; readonly account: string },
    private readonly parts: AccountParts,
  ) {
    const { transfers, requests, clock } = parts;
    this.free = new SharedRead(() => freeByShard(requests, owner.user_id));
    this.cancels = new VenueBCancels({ requests, clock, user_id: owner.user_id, path: ORDERS });
    this.transfer = (input) => transfers.transfer(input);
    this.transferred = (reference) => transfers.transferred(reference);
    this.transferReference = (transfer_id) => transfers.transferReference(transfer_id);
  }

  get account(): string {
    return this.owner.account;
  }

  clientIdOf(order_id: string, attempt: number): string {
    return attempt === 1 ? order_id : `${order_id}-${attempt}`;
  }

  /** We accept a bound of one dollar and the venue does not, so the nearest valid price is sent. */
  sentOf(terms: OrderTerms): { readonly quantity: Micros; readonly price: Micros } {
    const asked = terms.kind === 'market' ? terms.bound : terms.price;
    const least = tickAt(terms.market, 0n) ?? 100n;
    const most = ONE - (tickAt(terms.market, ONE - 1n) ?? 100n);
    const price =
      isPriceOnGrid(terms.market, asked) === undefined ? asked : mostOf(least, leastOf(asked, most));
    return { quantity: wholeCount(terms.quantity), price };
  }

  async submit(terms: OrderTerms, venue_client_id: string): Promise<VenueExchange<SubmitOutcome>> {
    const sent = this.sentOf(terms);
    const { outcome, call } = await this.parts.requests.signed({
      ...{ user_id: this.owner.user_id, order_id: terms.order_id, operation: 'submit' },
      ...{ method: 'POST', path: ORDERS, body: newOrder(terms, sent, venue_client_id) },
    });
    return { outcome: await this.submitted(outcome, terms, venue_client_id), call };
  }

  private async submitted(
    outcome: RequestOutcome,
    terms: OrderTerms,
    venue_client_id: string,
  ): Promise<SubmitOutcome> {
    if (outcome.what !== 'answered') return unanswered(outcome);
    const refused = refusalOf(outcome.status, outcome.body);
    if (refused !== undefined && DUPLICATE_CODES.has(refused.code))
      return { what: 'doubtful', reason: 'the venue knows this id already' };
    if (refused !== undefined) return { what: 'refused', failure: refused.failure };
    const created = goodAnswer(outcome, createdOrder);
    if (created === undefined) return { what: 'doubtful', reason: doubt(outcome) };
    const { quantity, price } = this.sentOf(terms);
    const filled = created.fill_count;
    const isResting = rests(terms) && created.remaining_count > 0n;
    const ended = endedBy(created);
    const order: ObservedOrder = {
      ...(ended === undefined ? {} : { ended_by: ended }),
      exchange_order_id: created.order_id,
      ...{ venue_client_id, price, quantity, filled },
      status: filled >= quantity ? 'filled' : isResting ? 'resting' : 'cancelled',
    };
    if (order.status !== 'cancelled' || filled > 0n) return { what: 'placed', order };
    if (created.cancel_reason === 'own_order') return { what: 'placed', order, unfilled: 'own-order' };
    return { what: 'placed', order, unfilled: await this.whyUnfilled(terms, price) };
  }

  /**
   * The venue does not give the reason, so the book is read just after. If it could have matched, our own order was
   * in the way.
   */
  private async whyUnfilled(
    terms: OrderTerms,
    price: Micros,
  ): Promise<'empty' | 'beyond-bound' | 'own-order'> {
    try {
      const { bid, ask } = await this.parts.markets.best(terms.market_id, terms.outcome_index);
      const other = terms.side === 'buy' ? ask : bid;
      if (other === undefined) return 'empty';
      return (terms.side === 'buy' ? other <= price : other >= price) ? 'own-order' : 'beyond-bound';
    } catch (error) {
      if (error instanceof VenueUnavailable) return 'beyond-bound';
      throw error;
    }
  }

  async cancel(order: OrderName): Promise<VenueExchange<CancelOutcome>> {
    let id = order.exchange_order_id;
    if (id === undefined) {
      const { outcome: found, call } = await this.byClientId(order);
      if (found === undefined) return { outcome: { what: 'gone' }, call };
      id = found.exchange_order_id;
    }
    const { outcome, call } = await this.cancels.ask({ ...order, exchange_order_id: id });
    return {
      outcome: outcome.what === 'taken-back' ? await this.cancelled(order, id, outcome.left) : outcome,
      call,
    };
  }

  private async cancelled(order: OrderName, id: string, left: Micros): Promise<CancelOutcome> {
    const { quantity, price } = this.sentOf(order.terms);
    const { venue_client_id } = order;
    // Nothing was filled, because all of it was left.
    if (left === quantity) {
      const seen = { venue_client_id, price, quantity, filled: 0n, status: 'cancelled' } as const;
      return { what: 'cancelled', order: { exchange_order_id: id, ...seen } };
    }
    // Only the venue knows what was filled before the cancel, so the order is read again.
    try {
      const { outcome: found } = await this.order({ ...order, exchange_order_id: id });
      return found === undefined ? { what: 'gone' } : { what: 'cancelled', order: found };
    } catch (error) {
      if (error instanceof VenueUnavailable) return { what: 'doubtful', reason: error.message };
      throw error;
    }
  }

  async amend(order: OrderName, price: Micros): Promise<VenueExchange<AmendOutcome>> {
    const { terms } = order;
    const book = inBook({ ...terms, price });
    const { outcome, call } = await this.parts.requests.signed({
      ...{ user_id: this.owner.user_id, order_id: terms.order_id, operation: 'amend', method: 'POST' },
      path: `${ORDERS}/${encodeURIComponent(order.exchange_order_id ?? '')}/amend`,
      body: {
        ...{ ticker: terms.market_id, side: book.side, price: dollarsText(book.price) },
        count: countText(this.sentOf(terms).quantity),
        ...{ client_order_id: order.venue_client_id, updated_client_order_id: order.venue_client_id },
        ...(terms.market.shard === undefined ? {} : { exchange_index: terms.market.shard }),
      },
    });
    return { outcome: this.amended(outcome, order, price), call };
  }

  private amended(
    outcome: RequestOutcome,
    { terms, venue_client_id }: OrderName,
    price: Micros,
  ): AmendOutcome {
    if (outcome.what !== 'answered') return { ...reasonOf(outcome) };
    const refused = refusalOf(outcome.status, outcome.body);
    if (refused !== undefined) return { what: 'refused', failure: refused.failure };
    const done = goodAnswer(outcome, amendedOrder);
    if (done === undefined) return { what: 'doubtful', reason: doubt(outcome) };
    const { quantity } = this.sentOf(terms);
    const filled = done.fill_count ?? 0n;
    const status = done.remaining_count === 0n ? (filled >= quantity ? 'filled' : 'cancelled') : 'resting';
    const ended = endedBy(done);
    const named = { exchange_order_id: done.order_id, venue_client_id, price, quantity, filled };
    return {
      what: 'amended',
      order: { ...named, status, ...(ended === undefined ? {} : { ended_by: ended }) },
    };
  }

  /**
   * Looked up by the venue's id if it is known. Otherwise all pages of orders are searched for our id, because the
   * venue may ignore the filter.
   */
  async order(order: OrderName): Promise<VenueExchange<ObservedOrder | undefined>> {
    if (order.exchange_order_id === undefined) return this.byClientId(order);
    const exchange = await this.parts.requests.signed({
      ...{ user_id: this.owner.user_id, order_id: order.terms.order_id, operation: 'read' },
      ...{ method: 'GET', path: `/portfolio/orders/${encodeURIComponent(order.exchange_order_id)}` },
    });
    const { outcome, call } = exchange;
    if (
      outcome.what === 'answered' &&
      outcome.status === UNKNOWN_STATUS &&
      refusalOf(outcome.status, outcome.body)
    )
      return { outcome: undefined, call };
    return { outcome: observedOrder(readAs(oneOrder, bodyOf(exchange.outcome)).order), call };
  }

  private async byClientId(name: OrderName): Promise<VenueExchange<ObservedOrder | undefined>> {
    const found = await readPages(this.parts.requests, {
      ...{
        user_id: this.owner.user_id,
        path: '/portfolio/orders',
        query: { ticker: name.terms.market_id, client_order_id: name.venue_client_id },
      },
      read: (body) => {
        const { orders, cursor } = readAs(orderPage, body);
        return { rows: orders, cursor };
      },
      until: ({ client_order_id: id }) => id === name.venue_client_id,
    });
    const order = found.rows.find(({ client_order_id: id }) => id === name.venue_client_id);
    return { outcome: order === undefined ? undefined : observedOrder(order), call: found.call };
  }

  async openOrders(): Promise<readonly ObservedAccountOrder[]> {
    const { rows } = await readPages(this.parts.requests, {
      ...{ user_id: this.owner.user_id, path: '/portfolio/orders', query: { status: 'resting' } },
      read: (body) => {
        const { orders, cursor } = readAs(orderPage, body);
        return { rows: orders, cursor };
      },
    });
    return rows.map(observedOrder);
  }

  async fills(since: Instant): Promise<readonly ObservedFill[]> {
    const from = Math.floor(Date.parse(plusMillis(since, -CLOCK_MARGIN_MILLIS)) / 1_000);
    const { rows } = await readPages(this.parts.requests, {
      ...{ user_id: this.owner.user_id, path: '/portfolio/fills', query: { min_ts: from } },
      read: (body) => {
        const { fills, cursor } = readAs(fillPage, body);
        return { rows: fills, cursor };
      },
    });
    return rows
      .map(observedFill)
      .sort((one, other) => (one.fill.occurred_at < other.fill.occurred_at ? -1 : 1));
  }

  balances(): Promise<VenueBalances> {
    return readBalances(this.parts.requests, this.owner.user_id);
  }

  movements(since: Instant): Promise<readonly AccountMovement[]> {
    return readMovements(this.parts.requests, this.owner, since);
  }

  freeCollateral(): Promise<ReadonlyMap<number, Micros>> {
    return this.free.ask();
  }

  async moveCollateral(from: number, to: number, amount: Micros, reference: string): Promise<void> {
    await this.parts.transfers.betweenShards(from, to, amount, reference);
  }

  follow(on: Parameters<VenueAccount['follow']>[0]): { close(): void } {
    return this.parts.feed.follow(this.owner.user_id, on);
  }
}
