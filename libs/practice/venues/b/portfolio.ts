import type { Faults } from '../../faults.js';
import { ONE_DOLLAR, type SizeMicros } from '../../matching/order-book.js';
import type { Movement, VenueFill, VenueOrder } from '../../venue/terms.js';
import type { PracticeVenuePort } from '../../venue/venue-reads.js';
import type { VenueAnswer } from '../venue-shell.js';
import { engineAccount, SHARDS, type CollateralShard } from './accounts.js';
import { cashDollars, cents, count } from './fixed-point.js';
import { eventOf, instant, resultOf } from './markets.js';
import { fillRecord, orderRecord, type BOrders } from './orders.js';
import { page } from './page.js';
import { marketResults, tradedIn } from './results.js';
import { invalid, notFound } from './refusals.js';

const MILLIS = 1_000;

/** An account's reads of its own data. Lists are newest first. */
export class BPortfolio {
  constructor(
    private readonly venue: PracticeVenuePort,
    private readonly orders: BOrders,
    private readonly faults: Pick<Faults, 'takeDuplicate'>,
  ) {}

  order(account: string, orderId: string): VenueAnswer {
    const order = this.orders.orderOf(account, orderId);
    return order === undefined
      ? notFound('no order has this id')
      : { status: 200, body: { order: this.orderRecord(order) } };
  }

  /** The filter `client_order_id` is ours. The published call cannot look up an order by its sender's id. */
  orderList(account: string, query: URLSearchParams): VenueAnswer {
    const within = withinTimes(query);
    const [ticker, status, clientId] = [
      query.get('ticker'),
      query.get('status'),
      query.get('client_order_id'),
    ];
    const orders = this.ordersNamed(account, clientId).filter(
      (order) =>
        within(order.placed_at) &&
        (ticker === null || order.market_id === ticker) &&
        (status === null || this.statusOf(order) === status),
    );
    return listed('orders', orders, query, (order) => this.orderRecord(order));
  }

  fillList(account: string, query: URLSearchParams): VenueAnswer {
    const within = withinTimes(query);
    const [ticker, orderId] = [query.get('ticker'), query.get('order_id')];
    const fills = this.fillsOf(account).filter(
      (fill) =>
        within(fill.at) &&
        (ticker === null || fill.market_id === ticker) &&
        (orderId === null || fill.order_id === orderId),
    );
    const result = page(fills, query);
    if (result === undefined) return invalid('limit or cursor');
    const records = result.items.flatMap((fill) => {
      const record = fillRecord(fill, this.shardOf(fill.market_id));
      return this.faults.takeDuplicate() ? [record, record] : [record];
    });
    return { status: 200, body: { fills: records, cursor: result.cursor } };
  }

  /**
   * Free cash in the venue's form. Ours: `account`, the owner, and a shard's `total_balance`, which includes reserved
   * cash.
   */
  balance(account: string, query: URLSearchParams): VenueAnswer {
    const shard = query.get('exchange_index');
    const asked: readonly CollateralShard[] =
      shard === null ? SHARDS : SHARDS.filter((one) => String(one) === shard);
    if (asked.length === 0) return invalid('exchange_index');
    const { reads } = this.venue;
    const breakdown = SHARDS.map((index) => {
      const engine = engineAccount(account, index);
      const [balance, total] = [reads.freeCash(engine), reads.cash(engine).total];
      return { exchange_index: index, balance: cashDollars(balance), total_balance: cashDollars(total) };
    });
    const free = asked.reduce((sum, index) => sum + reads.freeCash(engineAccount(account, index)), 0n);
    return {
      status: 200,
      body: {
        ...{ balance: cents(free), balance_dollars: cashDollars(free), portfolio_value: this.worth(account) },
        ...{ updated_ts: Math.floor(this.venue.now() / MILLIS), balance_breakdown: breakdown, account },
      },
    };
  }

  restingValue(account: string): VenueAnswer {
    const { reads } = this.venue;
    const held = SHARDS.map((shard) => reads.cash(engineAccount(account, shard)).held);
    return {
      status: 200,
      body: {
        total_resting_order_value: cents(held.reduce((sum, one) => sum + one, 0n)),
        resting_order_value_breakdown: held.map((one, exchange_index) => ({
          exchange_index,
          balance: cashDollars(one),
        })),
      },
    };
  }

  /**
   * Every market in which the account traded or holds shares. `position_fp` is Yes less No. `yes_fp` and `no_fp` are
   * ours: while one share of a pair is reserved for a sale, the pair is not paid and cancels out in the difference.
   */
  positions(account: string, query: URLSearchParams): VenueAnswer {
    const ticker = query.get('ticker');
    const results = marketResults(this.fillsOf(account), this.movementsOf(account));
    for (const shard of SHARDS) {
      for (const { market_id: id } of this.venue.reads.positionsOf(engineAccount(account, shard)))
        if (!results.has(id)) results.set(id, { traded: 0n, fees: 0n, flow: 0n, last: 0 });
    }
    const markets = [...results].filter(([id]) => ticker === null || id === ticker);
    const result = page(markets, query);
    if (result === undefined) return invalid('limit or cursor');
    const market_positions = result.items.map(([id, { traded, fees, flow, last }]) => {
      const [yes, no] = this.sharesOf(account, id);
      const exposure = yes + no === 0 ? 0n : flow < 0n ? -flow : 0n;
      return {
        ...{ ticker: id, exchange_index: this.shardOf(id), position_fp: count(yes - no) },
        ...{ yes_fp: count(yes), no_fp: count(no), total_traded_dollars: cashDollars(traded) },
        ...{ market_exposure_dollars: cashDollars(exposure), fees_paid_dollars: cashDollars(fees) },
        ...{ realized_pnl_dollars: cashDollars(yes + no === 0 ? flow : 0n), last_updated_ts: instant(last) },
      };
    });
    return { status: 200, body: { market_positions, event_positions: [], cursor: result.cursor } };
  }

  settlements(account: string, query: URLSearchParams): VenueAnswer {
    const within = withinTimes(query);
    const payouts = this.movementsOf(account).filter(({ kind, at }) => kind === 'payout' && within(at));
    const byMarket = new Map<string, Movement[]>();
    for (const payout of payouts) {
      const id = payout.market_id ?? '';
      byMarket.set(id, [...(byMarket.get(id) ?? []), payout]);
    }
    const ticker = query.get('ticker');
    const settled = [...byMarket].filter(([id]) => ticker === null || id === ticker);
    return listed('settlements', settled, query, ([id, paid]) => this.settlement(account, id, paid));
  }

  /** Ours: the published protocol shows paid pairs only in balance and positions. */
  pairPayments(account: string, query: URLSearchParams): VenueAnswer {
    const within = withinTimes(query);
    const pairs = this.movementsOf(account).filter(({ kind, at }) => kind === 'pairs' && within(at));
    return listed(
      'pair_payments',
      pairs,
      query,
      ({ movement_id: id, market_id = '', amount, size = 0, at }) => ({
        ...{ id, ticker: market_id, exchange_index: this.shardOf(market_id), count_fp: count(size) },
        ...{ amount_dollars: cashDollars(amount), created_time: instant(at) },
      }),
    );
  }

  deposits(account: string, query: URLSearchParams): VenueAnswer {
    const deposits = this.movementsOf(account).filter(({ kind }) => kind === 'deposit');
    return listed('deposits', deposits, query, ({ movement_id: id, amount, at }) => ({
      ...{ id, status: 'applied', type: 'wire', amount_cents: cents(amount), fee_cents: 0 },
      ...{ created_ts: Math.floor(at / MILLIS), finalized_ts: Math.floor(at / MILLIS) },
    }));
  }

  shardOf(marketId: string): number {
    return this.venue.reads.market(marketId)?.terms.shard ?? 0;
  }

  /** Net position after all fills sent so far. */
  netPosition(account: string, marketId: string): SizeMicros {
    const [yes, no] = this.sharesOf(account, marketId);
    return yes - no;
  }

  orderRecord(order: VenueOrder): object {
    return orderRecord(order, this.shardOf(order.market_id));
  }

  private settlement(account: string, id: string, paid: readonly Movement[]): object {
    const market = this.venue.reads.market(id);
    const shares = (outcome: 0 | 1): SizeMicros =>
      paid.filter((one) => one.outcome === outcome).reduce((sum, { size = 0 }) => sum + size, 0);
    const fills = this.fillsOf(account).filter(({ market_id }) => market_id === id);
    const revenue = paid.reduce((sum, { amount }) => sum + amount, 0n);
    return {
      ...{ ticker: id, event_ticker: eventOf(id), exchange_index: this.shardOf(id) },
      ...{ market_result: resultOf(market?.payouts), revenue: cents(revenue), fee_cost: cashDollars(0n) },
      ...{ yes_count_fp: count(shares(0)), no_count_fp: count(shares(1)) },
      yes_total_cost_dollars: cashDollars(tradedIn(fills.filter(({ outcome }) => outcome === 0))),
      no_total_cost_dollars: cashDollars(tradedIn(fills.filter(({ outcome }) => outcome === 1))),
      ...{
        settled_time: instant(paid[0]?.at ?? 0),
        value: (market?.payouts?.[0] ?? 0) / (ONE_DOLLAR / 100),
      },
    };
  }

  private ordersNamed(account: string, clientId: string | null): readonly VenueOrder[] {
    if (clientId === null) return this.orders.ordersOf(account);
    return SHARDS.flatMap(
      (shard) => this.venue.reads.orderByClientId(engineAccount(account, shard), clientId) ?? [],
    );
  }

  private statusOf({ status }: VenueOrder): string {
    return status === 'cancelled' ? 'canceled' : status;
  }

  private sharesOf(account: string, marketId: string): [yes: SizeMicros, no: SizeMicros] {
    const engine = engineAccount(account, this.shardOf(marketId));
    const shares = (outcome: 0 | 1): SizeMicros => this.venue.reads.holding(engine, marketId, outcome).total;
    return [shares(0), shares(1)];
  }

  /** The positions' value at the last price, in cents. */
  private worth(account: string): number {
    let worth = 0n;
    for (const shard of SHARDS) {
      for (const { market_id: id, outcome, holding } of this.venue.reads.positionsOf(
        engineAccount(account, shard),
      )) {
        const last = this.venue.reads.trades(id).at(-1)?.price ?? ONE_DOLLAR / 2;
        worth += BigInt(outcome === 0 ? last : ONE_DOLLAR - last) * BigInt(holding.total);
      }
    }
    return cents(worth);
  }

  private fillsOf(account: string): readonly VenueFill[] {
    return SHARDS.flatMap((shard) => this.venue.reads.fillsOf(engineAccount(account, shard))).sort(byTime);
  }

  private movementsOf(account: string): readonly Movement[] {
    return SHARDS.flatMap((shard) => this.venue.reads.movementsOf(engineAccount(account, shard))).sort(
      byTime,
    );
  }
}

function byTime(a: { readonly at: number }, b: { readonly at: number }): number {
  return a.at - b.at;
}

/** Filters by `min_ts` and `max_ts`, in seconds. */
function withinTimes(query: URLSearchParams): (at: number) => boolean {
  const [from, until] = [query.get('min_ts'), query.get('max_ts')];
  return (at) =>
    (from === null || at >= Number(from) * MILLIS) && (until === null || at < (Number(until) + 1) * MILLIS);
}

function listed<T>(
  name: string,
  oldestFirst: readonly T[],
  query: URLSearchParams,
  record: (item: T) => object,
): VenueAnswer {
  const result = page(oldestFirst, query);
  if (result === undefined) return invalid('limit or cursor');
  return { status: 200, body: { [name]: result.items.map(record), cursor: result.cursor } };
}
