import { ExchangeAccounts, costOf, type Cash } from './accounts.js';
import { isOnGrid, isSizeAllowed, type PriceGrid } from './grid.js';
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
export type FillLiquidity = 'maker' | 'taker';

/** The venue's fee for a trade, and the highest fee for a trade up to a limit price. */
export interface FeeSchedule {
  readonly fee: (price: PriceMicros, size: SizeMicros, liquidity: FillLiquidity) => Cash;
  readonly most: (limit: PriceMicros, size: SizeMicros) => Cash;
}

export interface ExchangeRules {
  readonly fees: FeeSchedule;
  /** Whether the venue pays a dollar for one free share of each outcome as soon as an account has both. */
  readonly pays_pairs: boolean;
}

export interface Market {
  readonly market_id: string;
  readonly grid: PriceGrid;
  readonly book: OrderBook;
  status: MarketStatus;
  payouts: readonly [PriceMicros, PriceMicros] | undefined;
}

/** One side of a trade, in dollars of its own outcome. */
export interface ExchangeFill {
  readonly order_id: string;
  readonly account: string;
  readonly outcome: OutcomeIndex;
  readonly side: NewOrder['side'];
  readonly price: PriceMicros;
  readonly size: SizeMicros;
  readonly fee: Cash;
  readonly liquidity: FillLiquidity;
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

export type PlaceResult =
  | { readonly ok: false; readonly refusal: PlaceRefusal }
  | {
      readonly ok: true;
      readonly trades: readonly Trade[];
      readonly rests: SizeMicros;
      /** The quantity that left at once: it may not rest, or it met an order of its own account. */
      readonly dropped: SizeMicros;
      readonly met_own: boolean;
    };

/** A payment to an account: a dollar for each pair of shares, or the payout of a resolved market. */
export interface Paid {
  readonly what: 'pairs' | 'payout';
  readonly account: string;
  readonly market_id: string;
  /** Set for a payout. */
  readonly outcome?: OutcomeIndex;
  readonly size: SizeMicros;
  readonly amount: Cash;
}

type OrderNeed = Pick<NewOrder, 'account' | 'outcome' | 'side' | 'price'>;

/**
 * The markets and accounts of one venue. It uses no clock and no randomness: the same orders in the same sequence
 * give the same trades, so a venue can be rebuilt from its log of commands.
 */
export class MatchingExchange {
  readonly accounts = new ExchangeAccounts();
  private readonly markets = new Map<string, Market>();
  private readonly marketOfOrder = new Map<string, Market>();
  private trades = 0;
  private paid: Paid[] = [];

  constructor(private readonly rules: ExchangeRules) {}

  list(marketId: string, grid: PriceGrid): Market {
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

  /** A resting order with its market. */
  find(orderId: string): { readonly market: Market; readonly order: RestingOrder } | undefined {
    const market = this.marketOfOrder.get(orderId);
    const order = market?.book.find(orderId);
    return market === undefined || order === undefined ? undefined : { market, order };
  }

  /** Returns the payments since the last call. */
  takePaid(): readonly Paid[] {
    const { paid } = this;
    this.paid = [];
    return paid;
  }

  place(marketId: string, order: NewOrder): PlaceResult {
    const market = this.markets.get(marketId);
    if (market === undefined) return refused('unknown-market');
    if (this.marketOfOrder.has(order.order_id)) return refused('duplicate');
    const refusal = this.refusalOf(market, order, 0n, 0);
    return refusal === undefined ? this.placeChecked(market, order) : refused(refusal);
  }

  /**
   * Changes price or size of a resting order. It keeps its priority if it only becomes smaller. Otherwise it goes to
   * the end of the queue, or trades. If refused, it rests unchanged.
   */
  amend(orderId: string, price: PriceMicros, size: SizeMicros, postOnly = false): PlaceResult {
    const found = this.find(orderId);
    if (found === undefined) return refused('unknown-market');
    const { market, order: before } = found;
    const { account, outcome, side } = before;
    const order: NewOrder = {
      ...{ order_id: orderId, account, outcome, side, price, size },
      ...{ lifetime: 'rest', post_only: postOnly },
    };
    const isCash = side === 'buy';
    const freedCash = isCash ? this.needOf(before.price, before.remaining) : 0n;
    const refusal = this.refusalOf(market, order, freedCash, isCash ? 0 : before.remaining);
    if (refusal !== undefined) return refused(refusal);
    if (price === before.price && size <= before.remaining) {
      market.book.reduce(orderId, size);
      this.reserve(market, order, before.remaining, size);
      this.payPairs(market, account);
      return { ok: true, trades: [], rests: size, dropped: 0, met_own: false };
    }
    if (postOnly && market.book.wouldCross(order)) return refused('would-cross');
    this.removeResting(market, orderId);
    return this.placeChecked(market, order);
  }

  cancel(orderId: string): RestingOrder | undefined {
    const market = this.marketOfOrder.get(orderId);
    if (market === undefined) return undefined;
    const order = this.removeResting(market, orderId);
    if (order !== undefined) this.payPairs(market, order.account);
    return order;
  }

  /** Moves shares between accounts. False if the first account has too few free shares. */
  handOver(from: string, to: string, marketId: string, outcome: OutcomeIndex, size: SizeMicros): boolean {
    const { total, held } = this.accounts.holding(from, marketId, outcome);
    if (size <= 0 || total - held < size) return false;
    this.accounts.move(from, marketId, outcome, -size);
    this.accounts.move(to, marketId, outcome, size);
    this.payPairs(this.listedMarket(marketId), to);
    return true;
  }

  /** Creates pairs of shares for a dollar each. */
  mint(account: string, marketId: string, size: SizeMicros): void {
    this.accounts.pay(account, -costOf(ONE_DOLLAR, size));
    for (const outcome of [0, 1] as const) this.accounts.move(account, marketId, outcome, size);
  }

  /** Halted orders stay. Closing cancels all orders and returns them. */
  setStatus(marketId: string, status: Exclude<MarketStatus, 'resolved'>): readonly RestingOrder[] {
    const market = this.listedMarket(marketId);
    if (market.status === 'resolved') throw new RangeError(`${marketId} is resolved`);
    market.status = status;
    return status === 'closed' ? this.cancelAll(market) : [];
  }

  /** Pays the payout of every share and removes the shares. */
  resolve(marketId: string, payouts: readonly [PriceMicros, PriceMicros]): readonly RestingOrder[] {
    if (payouts[0] + payouts[1] !== ONE_DOLLAR) throw new RangeError('payouts of a pair add up to a dollar');
    const market = this.listedMarket(marketId);
    if (market.status === 'resolved') throw new RangeError(`${marketId} is resolved already`);
    const back = this.cancelAll(market);
    market.status = 'resolved';
    market.payouts = payouts;
    for (const outcome of [0, 1] as const) {
      for (const [account, { total }] of [...this.accounts.holders(marketId, outcome)]) {
        const amount = costOf(payouts[outcome], total);
        this.accounts.move(account, marketId, outcome, -total);
        this.accounts.pay(account, amount);
        this.paid.push({ what: 'payout', account, market_id: marketId, outcome, size: total, amount });
      }
    }
    return back;
  }

  private listedMarket(marketId: string): Market {
    const market = this.markets.get(marketId);
    if (market === undefined) throw new RangeError(`${marketId} is not listed`);
    return market;
  }

  private cancelAll(market: Market): readonly RestingOrder[] {
    const orders = [...market.book.orders()];
    for (const { order_id: id } of orders) this.cancel(id);
    return orders;
  }

  /** `freedCash` and `freedShares` are what the account gets back from the order that this one replaces. */
  private refusalOf(
    market: Market,
    order: NewOrder,
    freedCash: Cash,
    freedShares: SizeMicros,
  ): PlaceRefusal | undefined {
    if (market.status !== 'open') return 'not-open';
    if (!isSizeAllowed(market.grid, order.size)) return 'bad-size';
    if (!isOnGrid(market.grid, order.price)) return 'off-grid';
    const { account, side, outcome, price, size } = order;
    if (side === 'sell') {
      const { total, held } = this.accounts.holding(account, market.market_id, outcome);
      return total - held + freedShares < size ? 'no-shares' : undefined;
    }
    const { total, held } = this.accounts.cashOf(account);
    return total - held + freedCash < this.needOf(price, size) ? 'no-cash' : undefined;
  }

  private placeChecked(market: Market, order: NewOrder): PlaceResult {
    const placement = market.book.place(order);
    if (placement.result === 'would-cross' || placement.result === 'not-filled')
      return refused(placement.result);
    this.reserve(market, order, 0, order.size);
    let left = order.size;
    const trades = placement.matches.map((match) => {
      left -= match.size;
      return this.settle(market, { order, left }, match);
    });
    const rests = placement.result === 'done' ? placement.rests : 0;
    this.reserve(market, order, left, rests);
    if (rests > 0) this.marketOfOrder.set(order.order_id, market);
    this.payPairs(market, order.account);
    return { ok: true, trades, rests, dropped: placement.dropped, met_own: placement.result === 'own-order' };
  }

  private removeResting(market: Market, orderId: string): RestingOrder | undefined {
    const order = market.book.cancel(orderId);
    if (order === undefined) return undefined;
    this.marketOfOrder.delete(orderId);
    this.reserve(market, order, order.remaining, 0);
    return order;
  }

  private needOf(price: PriceMicros, size: SizeMicros): Cash {
    return size === 0 ? 0n : costOf(price, size) + this.rules.fees.most(price, size);
  }

  /** Changes what an order reserves to fit its remaining size: shares for a sale, cash for a purchase. */
  private reserve({ market_id: id }: Market, order: OrderNeed, before: SizeMicros, left: SizeMicros): void {
    const { account, outcome, side, price } = order;
    if (side === 'sell') this.accounts.holdShares(account, id, outcome, left - before);
    else this.accounts.hold(account, this.needOf(price, left) - this.needOf(price, before));
  }

  private settle(
    market: Market,
    { order: taker, left }: { readonly order: NewOrder; readonly left: SizeMicros },
    { maker, size, price, kind }: Match,
  ): Trade {
    this.trades += 1;
    if (market.book.find(maker.order_id) === undefined) this.marketOfOrder.delete(maker.order_id);
    const side = (
      order: OrderNeed & { readonly order_id: string },
      liquidity: FillLiquidity,
    ): ExchangeFill => {
      const own = firstOutcomePrice(order.outcome, price);
      const { order_id, account, outcome, side: direction } = order;
      const fee = this.rules.fees.fee(own, size, liquidity);
      return { order_id, account, outcome, side: direction, price: own, size, fee, liquidity };
    };
    const fills = { maker: side(maker, 'maker'), taker: side(taker, 'taker') };
    this.book(market, maker, maker.remaining, fills.maker);
    this.book(market, taker, left, fills.taker);
    this.payPairs(market, maker.account);
    return { trade_id: this.trades, market_id: market.market_id, kind, ...fills };
  }

  private book(market: Market, order: OrderNeed, left: SizeMicros, fill: ExchangeFill): void {
    const { account, outcome, side, price, size, fee } = fill;
    this.reserve(market, order, left + size, left);
    const cost = costOf(price, size);
    this.accounts.pay(account, side === 'buy' ? -cost - fee : cost - fee);
    this.accounts.move(account, market.market_id, outcome, side === 'buy' ? size : -size);
  }

  private payPairs({ market_id: id }: Market, account: string): void {
    if (!this.rules.pays_pairs) return;
    const free = ([0, 1] as const).map((outcome) => {
      const { total, held } = this.accounts.holding(account, id, outcome);
      return total - held;
    });
    const size = Math.min(...free);
    if (size <= 0) return;
    for (const outcome of [0, 1] as const) this.accounts.move(account, id, outcome, -size);
    const amount = costOf(ONE_DOLLAR, size);
    this.accounts.pay(account, amount);
    this.paid.push({ what: 'pairs', account, market_id: id, size, amount });
  }
}

function refused(refusal: PlaceRefusal): PlaceResult {
  return { ok: false, refusal };
}
