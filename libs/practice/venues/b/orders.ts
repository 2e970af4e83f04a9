import { z } from 'zod';
import type { Faults } from '../../faults.js';
import type { Cash } from '../../matching/accounts.js';
import {
  ONE_DOLLAR,
  type OutcomeIndex,
  type PriceMicros,
  type SizeMicros,
} from '../../matching/order-book.js';
import type { PlaceTerms, VenueFill, VenueOrder, VenueReply } from '../../venue/terms.js';
import type { ListedMarket, PracticeVenuePort } from '../../venue/venue-reads.js';
import type { VenueAnswer } from '../venue-shell.js';
import { engineAccount, SHARDS } from './accounts.js';
import { cashDollars, count, dollars, micros } from './fixed-point.js';
import { instant } from './markets.js';
import { invalid, notFound, refusalAnswer, refused } from './refusals.js';

const PRICE_PLACES = 4;
const COUNT_PLACES = 2;
const MOST_CANCELS = 100;
const MILLIS = 1_000;

const bookSide = z.enum(['bid', 'ask']);
const decimalText = z.string().max(32);
const clientId = z.string().min(1).max(64);
const shardIndex = z
  .number()
  .int()
  .min(-1)
  .max(SHARDS.length - 1)
  .optional();

const createBody = z.object({
  ticker: z.string().max(128),
  client_order_id: clientId.optional(),
  side: bookSide,
  count: decimalText,
  price: decimalText,
  expiration_time: z.number().int().positive().optional(),
  time_in_force: z.enum(['fill_or_kill', 'good_till_canceled', 'immediate_or_cancel']),
  post_only: z.boolean().optional(),
  self_trade_prevention_type: z.literal('taker_at_cross'),
  reduce_only: z.boolean().optional(),
  subaccount: z.literal(0).optional(),
  exchange_index: shardIndex,
});
const amendBody = z.object({
  ticker: z.string().max(128),
  side: bookSide,
  price: decimalText,
  count: decimalText,
  client_order_id: clientId.optional(),
  updated_client_order_id: clientId.optional(),
  exchange_index: shardIndex,
});
const decreaseBody = z.object({ reduce_by: decimalText.optional(), reduce_to: decimalText.optional() });
const batchBody = z.object({
  orders: z
    .array(z.object({ order_id: z.string().max(128) }))
    .min(1)
    .max(MOST_CANCELS),
});

type CreateBody = z.infer<typeof createBody>;
const LIFETIMES = {
  fill_or_kill: 'all-or-nothing',
  good_till_canceled: 'rest',
  immediate_or_cancel: 'immediate',
} as const;

/** Order requests of the protocol. Prices are those of Yes, and an order is a bid or an ask of Yes. */
export class BOrders {
  constructor(
    private readonly venue: PracticeVenuePort,
    private readonly faults: Pick<Faults, 'isHalted'>,
  ) {}

  async create(account: string, body: unknown): Promise<VenueAnswer> {
    const read = createBody.safeParse(body);
    if (!read.success) return invalid(z.prettifyError(read.error));
    const asked = read.data;
    const market = this.venue.reads.market(asked.ticker);
    if (market === undefined) return refused(404, 'market_not_found', 'no market has this ticker');
    const terms = this.termsOf(account, asked, market);
    if ('status' in terms) return terms;
    if (this.faults.isHalted) return refused(409, 'trading_is_paused', 'trading is paused');
    const reply = await this.place(terms);
    if (!reply.ok) return refusalAnswer(reply.refusal);
    return { status: 201, body: this.acknowledged(reply) };
  }

  /** As in the published client, `count` is the filled quantity plus the quantity to rest. */
  async amend(account: string, orderId: string, body: unknown): Promise<VenueAnswer> {
    const read = amendBody.safeParse(body);
    if (!read.success) return invalid(z.prettifyError(read.error));
    const order = this.orderOf(account, orderId);
    if (order === undefined) return notFound('no order has this id');
    const { side, ticker, updated_client_order_id: newName, client_order_id: name } = read.data;
    const [price, total] = [micros(read.data.price, PRICE_PLACES), micros(read.data.count, COUNT_PLACES)];
    if (price === undefined || total === undefined) return invalid('price or count is no fixed-point number');
    if (ticker !== order.market_id || side !== sideOf(order))
      return invalid('ticker and side are those of the order');
    if (name !== undefined && name !== order.client_id)
      return invalid('client_order_id is that of the order');
    if (this.faults.isHalted) return refused(409, 'trading_is_paused', 'trading is paused');
    return this.changed(
      order,
      { price: ownPrice(order.outcome, price), remaining: total - order.filled },
      newName,
    );
  }

  async decrease(account: string, orderId: string, body: unknown): Promise<VenueAnswer> {
    const read = decreaseBody.safeParse(body);
    const by = micros(read.data?.reduce_by ?? '', COUNT_PLACES);
    const to = micros(read.data?.reduce_to ?? '', COUNT_PLACES);
    if (!read.success || (by === undefined) === (to === undefined))
      return invalid('one of reduce_by and reduce_to');
    const order = this.orderOf(account, orderId);
    if (order === undefined) return notFound('no order has this id');
    const remaining = to ?? order.remaining - (by ?? 0);
    if (remaining >= order.remaining) return invalid('the order does not become smaller');
    if (remaining <= 0) return this.cancel(account, orderId);
    return this.changed(order, { price: order.price, remaining });
  }

  async cancel(account: string, orderId: string): Promise<VenueAnswer> {
    const order = this.orderOf(account, orderId);
    if (order === undefined) return notFound('no order has this id');
    const reply = await this.venue.ask({ do: 'cancel', order_id: orderId, why: 'user' });
    if (!reply.ok) return refusalAnswer(reply.refusal);
    return { status: 200, body: this.cancelled(order, reply.taken_back ?? 0) };
  }

  async cancelBatch(account: string, body: unknown): Promise<VenueAnswer> {
    const read = batchBody.safeParse(body);
    if (!read.success) return invalid(z.prettifyError(read.error));
    const orders = await Promise.all(
      read.data.orders.map(async ({ order_id: id }) => {
        const { status, body: reply } = await this.cancel(account, id);
        return status === 200 ? reply : { order_id: id, reduced_by: count(0), error: reply };
      }),
    );
    return { status: 200, body: { orders } };
  }

  /** Cancels all resting orders. */
  async cancelAll(account: string): Promise<VenueAnswer> {
    const resting = this.ordersOf(account).filter(({ status }) => status === 'resting');
    const orders = await Promise.all(
      resting.map(async ({ order_id: id }) => (await this.cancel(account, id)).body),
    );
    return { status: 200, body: { orders } };
  }

  orderOf(account: string, orderId: string): VenueOrder | undefined {
    const order = this.venue.reads.order(orderId);
    return order !== undefined && ownerOf(order.account) === account ? order : undefined;
  }

  /** Oldest first. */
  ordersOf(account: string): readonly VenueOrder[] {
    const orders = SHARDS.flatMap((shard) => this.venue.reads.ordersOf(engineAccount(account, shard)));
    return orders.sort((a, b) => a.placed_at - b.placed_at);
  }

  private termsOf(account: string, asked: CreateBody, { terms }: ListedMarket): PlaceTerms | VenueAnswer {
    const [price, size] = [micros(asked.price, PRICE_PLACES), micros(asked.count, COUNT_PLACES)];
    if (price === undefined || size === undefined) return invalid('price or count is no fixed-point number');
    const shard = terms.shard ?? 0;
    const { exchange_index: index = -1, expiration_time: until, post_only: postOnly } = asked;
    if (index !== -1 && index !== shard) return invalid(`the market is at exchange_index ${shard}`);
    const lifetime = LIFETIMES[asked.time_in_force];
    if (lifetime !== 'rest' && (until !== undefined || postOnly === true))
      return invalid('an order that does not rest neither expires nor is post-only');
    if (until !== undefined && until * MILLIS <= this.venue.now()) return invalid('expiration_time is past');
    const engine = engineAccount(account, shard);
    return {
      ...{ order_id: this.venue.newId(), account: engine, market_id: terms.market_id, size, lifetime },
      ...direction(asked, price),
      ...(asked.client_order_id === undefined ? {} : { client_id: asked.client_order_id }),
      ...(postOnly === undefined ? {} : { post_only: postOnly }),
      ...(until === undefined ? {} : { expires_at: until * MILLIS }),
    };
  }

  /** If an account cannot pay for a purchase but has shares of the other outcome, it sells those instead. */
  private async place(order: PlaceTerms): Promise<VenueReply> {
    const reply = await this.venue.ask({ do: 'place', order });
    if (reply.ok || reply.refusal !== 'no-cash') return reply;
    const sale = sold(order);
    const { account, market_id: marketId, outcome, size } = sale;
    const has = this.venue.reads.freeShares(account, marketId, outcome);
    return has < size ? reply : this.venue.ask({ do: 'place', order: sale });
  }

  private async changed(
    order: VenueOrder,
    to: { readonly price: PriceMicros; readonly remaining: SizeMicros },
    newName?: string,
  ): Promise<VenueAnswer> {
    const named = newName === undefined ? {} : { client_id: newName };
    const reply = await this.venue.ask({ do: 'amend', order_id: order.order_id, ...to, ...named });
    return reply.ok ? { status: 200, body: this.acknowledged(reply) } : refusalAnswer(reply.refusal);
  }

  /** `fill_count` is the order's total filled quantity, including fills before an amendment. */
  private acknowledged({ order }: VenueReply & { readonly ok: true }): object {
    if (order === undefined) throw new Error('the venue has placed nothing');
    const { filled, outcome, cost, fees } = order;
    const a = (sum: Cash): PriceMicros => Number(sum / BigInt(filled));
    return {
      ...named(order),
      ...{ fill_count: count(filled), remaining_count: count(order.remaining), ts_ms: order.updated_at },
      ...(filled === 0
        ? {}
        : {
            average_fill_price: dollars(ownPrice(outcome, a(cost.maker + cost.taker))),
            average_fee_paid: dollars(a(fees.maker + fees.taker)),
          }),
      ...reasonOf(order),
    };
  }

  private cancelled(order: VenueOrder, back: SizeMicros): object {
    return { ...named(order), reduced_by: count(back), ts_ms: this.venue.now() };
  }
}

type Direction = Pick<PlaceTerms, 'outcome' | 'side' | 'price'>;

/**
 * The protocol does not say whether an ask sells Yes or buys No. Both come to the same, because pairs are paid at
 * once. With `reduce_only` it sells, otherwise it buys.
 */
function direction({ side, reduce_only: reduces }: CreateBody, price: PriceMicros): Direction {
  const outcome: OutcomeIndex = side === 'bid' ? 0 : 1;
  const purchase = { outcome, side: 'buy' as const, price: ownPrice(outcome, price) };
  return reduces === true ? sold(purchase) : purchase;
}

/** The sale of the other outcome that equals this purchase. */
function sold<Order extends Direction>(purchase: Order): Order {
  const { outcome, price } = purchase;
  return { ...purchase, outcome: outcome === 0 ? 1 : 0, side: 'sell', price: ONE_DOLLAR - price };
}

/** Converts a price between Yes and an outcome, in either direction. */
function ownPrice(outcome: OutcomeIndex, price: PriceMicros): PriceMicros {
  return outcome === 0 ? price : ONE_DOLLAR - price;
}

export function ownerOf(account: string): string {
  return account.slice(0, account.lastIndexOf('/'));
}

function named({ order_id, client_id }: VenueOrder): object {
  return { order_id, ...(client_id === undefined ? {} : { client_order_id: client_id }) };
}

export function sideOf({ outcome, side }: Pick<VenueOrder, 'outcome' | 'side'>): 'bid' | 'ask' {
  return (outcome === 0) === (side === 'buy') ? 'bid' : 'ask';
}

/** The direction in both forms of the protocol. */
export function directionFields(of: Pick<VenueOrder, 'outcome' | 'side' | 'price'>): object {
  const yes = ownPrice(of.outcome, of.price);
  return {
    ...{ side: of.outcome === 0 ? 'yes' : 'no', action: of.side },
    ...{ outcome_side: sideOf(of) === 'bid' ? 'yes' : 'no', book_side: sideOf(of) },
    ...{ yes_price_dollars: dollars(yes), no_price_dollars: dollars(ONE_DOLLAR - yes) },
  };
}

/** Why an order ended other than by trades. Ours: the published record does not say. */
function reasonOf({ cause }: VenueOrder): object {
  return cause === undefined ? {} : { cancel_reason: cause.replaceAll('-', '_') };
}

const STATUS = { resting: 'resting', executed: 'executed', cancelled: 'canceled' } as const;

export function orderRecord(order: VenueOrder, shard: number): object {
  const { cost, fees, expires_at: until } = order;
  return {
    ...{ order_id: order.order_id, user_id: ownerOf(order.account), client_order_id: order.client_id ?? '' },
    ...{ ticker: order.market_id, type: 'limit', status: STATUS[order.status], ...directionFields(order) },
    ...{ fill_count_fp: count(order.filled), remaining_count_fp: count(order.remaining) },
    initial_count_fp: count(order.size),
    ...{ taker_fill_cost_dollars: cashDollars(cost.taker), maker_fill_cost_dollars: cashDollars(cost.maker) },
    ...{ taker_fees_dollars: cashDollars(fees.taker), maker_fees_dollars: cashDollars(fees.maker) },
    expiration_time: until === undefined ? null : instant(until),
    ...{ created_time: instant(order.placed_at), last_update_time: instant(order.updated_at) },
    ...{ self_trade_prevention_type: 'taker_at_cross', exchange_index: shard, ...reasonOf(order) },
  };
}

export function fillRecord(fill: VenueFill, shard: number): object {
  return {
    ...{ fill_id: `${fill.trade_id}-${fill.liquidity}`, exchange_index: shard, trade_id: fill.trade_id },
    ...{ order_id: fill.order_id, client_order_id: fill.client_id ?? '' },
    ...{ ticker: fill.market_id, market_ticker: fill.market_id, ...directionFields(fill) },
    ...{ count_fp: count(fill.size), is_taker: fill.liquidity === 'taker', fee_cost: cashDollars(fill.fee) },
    ...{ created_time: instant(fill.at), ts: Math.floor(fill.at / MILLIS), subaccount_number: 0 },
  };
}
