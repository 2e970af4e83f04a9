import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  OrderBook,
  ONE_DOLLAR,
  type BookSide,
  type NewOrder,
  type OutcomeIndex,
  type Placement,
  type RestingOrder,
} from './order-book.js';

/** The reference model: all orders in one list, searched from the start for every trade. */
class PaperMarket {
  readonly orders: { order: NewOrder; left: number }[] = [];

  /** The taker's price per share in its own dollars when it trades with this order. Undefined if they do not match. */
  private priceWith(taker: NewOrder, maker: NewOrder): number | undefined {
    const isSame = taker.outcome === maker.outcome;
    if (isSame === (taker.side === maker.side)) return undefined;
    const price = isSame ? maker.price : ONE_DOLLAR - maker.price;
    return (taker.side === 'buy' ? price <= taker.price : price >= taker.price) ? price : undefined;
  }

  private next(taker: NewOrder): { order: NewOrder; left: number } | undefined {
    let found: { entry: { order: NewOrder; left: number }; price: number } | undefined;
    for (const entry of this.orders) {
      const price = this.priceWith(taker, entry.order);
      if (price === undefined) continue;
      const isBetter =
        found !== undefined && (taker.side === 'buy' ? price < found.price : price > found.price);
      if (found === undefined || isBetter) found = { entry, price };
    }
    return found?.entry;
  }

  place(taker: NewOrder): {
    readonly result: Placement['result'];
    readonly trades: [string, number, number][];
    rests: number;
  } {
    const nothing = { trades: [], rests: 0 };
    if (taker.post_only === true && this.next(taker) !== undefined)
      return { result: 'would-cross', ...nothing };
    const before = structuredClone(this.orders);
    const trades: [string, number, number][] = [];
    let left = taker.size;
    let hasMetOwn = false;
    for (let maker = this.next(taker); maker !== undefined && left > 0; maker = this.next(taker)) {
      if (maker.order.account === taker.account) {
        hasMetOwn = true;
        break;
      }
      const size = Math.min(left, maker.left);
      const own = this.priceWith(taker, maker.order)!;
      trades.push([maker.order.order_id, size, taker.outcome === 0 ? own : ONE_DOLLAR - own]);
      left -= size;
      maker.left -= size;
      if (maker.left === 0) this.orders.splice(this.orders.indexOf(maker), 1);
    }
    if (taker.lifetime === 'all-or-nothing' && left > 0) {
      this.orders.splice(0, this.orders.length, ...before);
      return { result: 'not-filled', ...nothing };
    }
    if (hasMetOwn) return { result: 'own-order', trades, rests: 0 };
    const rests = taker.lifetime === 'rest' ? left : 0;
    if (rests > 0) this.orders.push({ order: taker, left: rests });
    return { result: 'done', trades, rests };
  }

  cancel(orderId: string): void {
    const index = this.orders.findIndex(({ order }) => order.order_id === orderId);
    if (index >= 0) this.orders.splice(index, 1);
  }
}

type Action = { readonly place: Omit<NewOrder, 'order_id'> } | { readonly cancel: number };

const anyOrder = fc.record({
  account: fc.constantFrom('ann', 'ben', 'cid'),
  outcome: fc.constantFrom<OutcomeIndex>(0, 1),
  side: fc.constantFrom<BookSide>('buy', 'sell'),
  // Few prices, so that orders meet. Symmetric, so that both outcomes meet.
  price: fc.integer({ min: 1, max: 9 }).map((tenths) => tenths * 100_000),
  size: fc.integer({ min: 1, max: 50 }),
  lifetime: fc.constantFrom<NewOrder['lifetime']>('rest', 'rest', 'rest', 'immediate', 'all-or-nothing'),
  post_only: fc.boolean(),
});
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: anyOrder.map(({ post_only, ...order }) => ({
      place: { ...order, post_only: post_only && order.lifetime === 'rest' },
    })),
  },
  { weight: 1, arbitrary: fc.nat(60).map((cancel) => ({ cancel })) },
);

function byId(orders: Iterable<Pick<RestingOrder, 'order_id' | 'remaining'>>): [string, number][] {
  return [...orders].map(({ order_id: id, remaining }): [string, number] => [id, remaining]).sort();
}

describe('an order book', () => {
  it('trades like the reference model', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 60 }), (actions) => {
        const [book, paper] = [new OrderBook(), new PaperMarket()];
        for (const [index, action] of actions.entries()) {
          if ('cancel' in action) {
            book.cancel(`order-${action.cancel}`);
            paper.cancel(`order-${action.cancel}`);
            continue;
          }
          const order = { ...action.place, order_id: `order-${index}` };
          const placed = book.place(order);
          const matches = 'matches' in placed ? placed.matches : [];
          const expected = paper.place(order);
          expect({
            result: placed.result,
            trades: matches.map(({ maker, size, price }) => [maker.order_id, size, price]),
            rests: placed.result === 'done' ? placed.rests : 0,
          }).toEqual(expected);
          expect(byId(book.orders())).toEqual(
            byId(paper.orders.map(({ order: { order_id }, left }) => ({ order_id, remaining: left }))),
          );
        }
        for (const side of ['buy', 'sell'] as const) {
          const shown = book.levels(0, side).reduce((sum, { size }) => sum + size, 0);
          const mirrored = book
            .levels(1, side === 'buy' ? 'sell' : 'buy')
            .reduce((sum, { size }) => sum + size, 0);
          expect(mirrored).toBe(shown);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('two buyers mint a pair, two sellers dissolve one, and within an outcome shares change hands', () => {
    const book = new OrderBook();
    const order = (
      order_id: string,
      account: string,
      outcome: OutcomeIndex,
      side: BookSide,
      price: number,
    ): NewOrder => ({
      ...{ order_id, account, outcome, side, price },
      ...{ size: 5, lifetime: 'rest' },
    });
    book.place(order('1', 'ann', 0, 'buy', 600_000));
    expect(book.place(order('2', 'ben', 1, 'buy', 450_000))).toMatchObject({
      matches: [{ kind: 'mint', price: 600_000 }],
    });
    book.place(order('3', 'ann', 0, 'sell', 300_000));
    expect(book.place(order('4', 'ben', 1, 'sell', 700_000))).toMatchObject({
      matches: [{ kind: 'dissolve', price: 300_000 }],
    });
    book.place(order('5', 'ann', 1, 'sell', 200_000));
    expect(book.place(order('6', 'ben', 1, 'buy', 250_000))).toMatchObject({
      matches: [{ kind: 'transfer', price: 800_000 }],
    });
    expect([...book.orders()]).toEqual([]);
  });

  it('an order that becomes smaller keeps its priority', () => {
    const book = new OrderBook();
    const buy = (order_id: string, account: string): NewOrder => ({
      ...{ order_id, account, outcome: 0, side: 'buy', price: 500_000, size: 10, lifetime: 'rest' },
    });
    book.place(buy('first', 'ann'));
    book.place(buy('second', 'ben'));
    expect(book.reduce('first', 4)).toBe(true);
    expect(book.reduce('first', 5)).toBe(false);
    const sell = { ...buy('taker', 'cid'), side: 'sell' as const, size: 6 };
    expect(book.place(sell)).toMatchObject({
      matches: [
        { maker: { order_id: 'first' }, size: 4 },
        { maker: { order_id: 'second' }, size: 2 },
      ],
    });
    expect(book.levels(1, 'sell')).toEqual([{ price: 500_000, size: 8, orders: 1 }]);
    expect(book.levels(1, 'sell', 'outcome')).toEqual([]);
  });
});
