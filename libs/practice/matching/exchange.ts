import { Accounts, costOf, type Cash } from './accounts.js';
import { isOnGrid, isSizeAllowed, type Grid } from './grid.js';
import {
  OrderBook,
  ONE_DOLLAR,
  firstOutcomePrice,
  type Match,
  type NewOrder,
  type OutcomeIndex,
  type PriceMicros,
  type RestingOrder,
  type SizeMicros,
  type TradeKind,
} from './order-book.js';

export type MarketStatus = 'open' | 'halted' | 'closed' | 'resolved';
export type Liquidity = 'maker' | 'taker';

/** What the venue takes for a trade, and the most it may take for one up to a price. */
export interface FeeSchedule {
  readonly fee: (price: PriceMicros, size: SizeMicros, liquidity: Liquidity) => Cash;
  readonly most: (limit: PriceMicros, size: SizeMicros) => Cash;
}

export interface Market {
  readonly market_id: string;
  readonly grid: Grid;
  readonly book: OrderBook;
  status: MarketStatus;
  payouts: readonly [PriceMicros, PriceMicros] | undefined;
}

/** One side of a trade, in the dollars of its own outcome. */
export interface ExchangeFill {
  readonly order_id: string;
  readonly account: string;
  readonly outcome: OutcomeIndex;
  readonly side: NewOrder['side'];
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly fee: Cash;
  readonly liquidity: Liquidity;
}

export interface Trade {
  readonly trade_id: number;
  readonly market_id: string;
  readonly kind: TradeKind;
  readonly maker: ExchangeFill;
  readonly taker: ExchangeFill;
}

export type PlaceRefusal =
  | 'unknown-market'
  | 'not-open'
  | 'off-grid'
  | 'bad-size'
  | 'no-cash'
  | 'no-shares'
  | 'would-cross'
  | 'not-filled'
  | 'duplicate';

export type Placed =
  | { readonly ok: false; readonly refusal: PlaceRefusal }
  | {
      readonly ok: true;
      readonly trades: readonly Trade[];
      readonly rests: SizeMicros;
      /** What left at once: it did not rest, or met an order of its own account. */
      readonly dropped: SizeMicros;
      readonly met_own: boolean;
    };

/**
 * Markets and accounts of one venue. Without a clock and without chance: the same orders in the same sequence give the same trades, so a
 * venue that writes down what it was asked comes back as it was.
 */
export class Exchange {
  readonly accounts = new Accounts();
  private readonly markets = new Map<string, Market>();
  private readonly marketOfOrder = new Map<string, Market>();
  private trades = 0;

  constructor(private readonly fees: FeeSchedule) {}

  list(marketId: string, grid: Grid): Market {
    if (this.markets.has(marketId)) throw new RangeError(`${marketId} is listed already`);
    const market: Market = {
      market_id: marketId,
      grid,
      book: new OrderBook(),
      status: 'open',
      payouts: undefined,
    };
    this.markets.set(marketId, market);
    return market;
  }

  market(marketId: string): Market | undefined {
    return this.markets.get(marketId);
  }

  /** An order that rests, with its market. */
  find(orderId: string): { readonly market: Market; readonly order: RestingOrder } | undefined {
    const market = this.marketOfOrder.get(orderId);
    const order = market?.book.find(orderId);
    return market === undefined || order === undefined ? undefined : { market, order };
  }

  place(marketId: string, order: NewOrder): Placed {
    const market = this.markets.get(marketId);
    if (market === undefined) return refused('unknown-market');
    const refusal = this.refusalOf(market, order);
    if (refusal !== undefined) return refused(refusal);
    this.setAside(market, order, order.size, 1);
    const placement = market.book.place(order);
    if (placement.result === 'would-cross' || placement.result === 'not-filled') {
      this.setAside(market, order, order.size, -1);
      return refused(placement.result);
    }
    const trades = placement.matches.map((match) => this.settle(market, order, match));
    this.setAside(market, order, placement.dropped, -1);
    const rests = placement.result === 'done' ? placement.rests : 0;
    if (rests > 0) this.marketOfOrder.set(order.order_id, market);
    return { ok: true, trades, rests, dropped: placement.dropped, met_own: placement.result === 'own-order' };
  }

  cancel(orderId: string): RestingOrder | undefined {
    const market = this.marketOfOrder.get(orderId);
    const order = market?.book.cancel(orderId);
    if (market === undefined || order === undefined) return undefined;
    this.marketOfOrder.delete(orderId);
    this.setAside(market, order, order.remaining, -1);
    return order;
  }

  /** Halted orders rest; closing takes them back and gives them to the caller. */
  setStatus(marketId: string, status: Exclude<MarketStatus, 'resolved'>): readonly RestingOrder[] {
    const market = this.known(marketId);
    if (market.status === 'resolved') throw new RangeError(`${marketId} is resolved`);
    market.status = status;
    return status === 'closed' ? this.emptied(market) : [];
  }

  /** Pays what each share is worth, and takes the shares away. */
  resolve(marketId: string, payouts: readonly [PriceMicros, PriceMicros]): readonly RestingOrder[] {
    if (payouts[0] + payouts[1] !== ONE_DOLLAR) throw new RangeError('payouts of a pair add up to a dollar');
    const market = this.known(marketId);
    if (market.status === 'resolved') throw new RangeError(`${marketId} is resolved already`);
    const back = this.emptied(market);
    market.status = 'resolved';
    market.payouts = payouts;
    for (const outcome of [0, 1] as const) {
      for (const [account, { total }] of [...this.accounts.holders(marketId, outcome)]) {
        this.accounts.move(account, marketId, outcome, -total);
        this.accounts.pay(account, costOf(payouts[outcome], total));
      }
    }
    return back;
  }

  private known(marketId: string): Market {
    const market = this.markets.get(marketId);
    if (market === undefined) throw new RangeError(`${marketId} is not listed`);
    return market;
  }

  private emptied(market: Market): readonly RestingOrder[] {
    const orders = [...market.book.orders()];
    for (const { order_id: id } of orders) this.cancel(id);
    return orders;
  }

  private refusalOf(market: Market, order: NewOrder): PlaceRefusal | undefined {
    if (market.status !== 'open') return 'not-open';
    if (this.marketOfOrder.has(order.order_id)) return 'duplicate';
    if (!isSizeAllowed(market.grid, order.size)) return 'bad-size';
    if (!isOnGrid(market.grid, order.price)) return 'off-grid';
    const { account, side, outcome, price, size } = order;
    if (side === 'sell') {
      const { total, held } = this.accounts.holding(account, market.market_id, outcome);
      return total - held < size ? 'no-shares' : undefined;
    }
    const { total, held } = this.accounts.cashOf(account);
    return total - held < this.needOf(price, size) ? 'no-cash' : undefined;
  }

  private needOf(price: PriceMicros, size: SizeMicros): Cash {
    return costOf(price, size) + this.fees.most(price, size);
  }

  /** Sets aside (1) or frees (-1) what so much of an order needs: shares of a sale, cash of a purchase. */
  private setAside(
    { market_id: id }: Market,
    order: Pick<NewOrder, 'account' | 'outcome' | 'side' | 'price'>,
    size: SizeMicros,
    sign: 1 | -1,
  ): void {
    if (size === 0) return;
    const { account, outcome, side, price } = order;
    if (side === 'sell') this.accounts.holdShares(account, id, outcome, sign * size);
    else this.accounts.hold(account, BigInt(sign) * this.needOf(price, size));
  }

  private settle(market: Market, taker: NewOrder, { maker, size, price, kind }: Match): Trade {
    this.trades += 1;
    if (market.book.find(maker.order_id) === undefined) this.marketOfOrder.delete(maker.order_id);
    const side = (
      order: Pick<NewOrder, keyof RestingOrder & keyof NewOrder>,
      liquidity: Liquidity,
    ): ExchangeFill => {
      const own = firstOutcomePrice(order.outcome, price);
      const { order_id, account, outcome, side: direction } = order;
      const fee = this.fees.fee(own, size, liquidity);
      return { order_id, account, outcome, side: direction, price: own, size, fee, liquidity };
    };
    const fills = { maker: side(maker, 'maker'), taker: side(taker, 'taker') };
    this.book(market, maker, fills.maker);
    this.book(market, taker, fills.taker);
    return { trade_id: this.trades, market_id: market.market_id, kind, ...fills };
  }

  private book(
    market: Market,
    order: Pick<NewOrder, 'account' | 'outcome' | 'side' | 'price'>,
    fill: ExchangeFill,
  ): void {
    const { account, outcome, side, price, size, fee } = fill;
    this.setAside(market, order, size, -1);
    const cost = costOf(price, size);
    this.accounts.pay(account, side === 'buy' ? -cost - fee : cost - fee);
    this.accounts.move(account, market.market_id, outcome, side === 'buy' ? size : -size);
  }
}

function refused(refusal: PlaceRefusal): Placed {
  return { ok: false, refusal };
}
