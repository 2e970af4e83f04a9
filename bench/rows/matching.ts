import { OrderBook as NpmOrderBook, Side } from 'nodejs-order-book';
import { MatchingExchange } from '#libs/practice/matching/exchange.js';
import { evenGrid } from '#libs/practice/matching/grid.js';
import { OrderBook, type NewOrder } from '#libs/practice/matching/order-book.js';
import { FEES_OF_B } from '#libs/practice/venues/b/fees.js';
import { alternating } from '../alternating.js';
import type { Ground } from '../ground/ground.js';
import { bookCalls, type BookCall } from '../load/book-calls.js';
import { asFastAs, forComparison, type RowOutcome, type Row, type Settings } from '../row.js';

const CALLS = 100_000;
const FEW = 2_000;
const MARKET = 'MARKET';
const TICK = 10_000;
const SHARE = 1_000_000;
const ACCOUNTS = 8;
const CASH = 10n ** 24n;

/** The same resting orders, trades and cancels for all engines, in memory on one thread. */
export const matching: Row = {
  name: 'matching',
  title: 'Matching engine of the practice venues, compared with the best maintained order book on npm',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const calls = bookCalls(settings.quick ? FEW : CALLS);
    const trades = {
      npm: tradesOf(npmBook, calls),
      book: tradesOf(ownBook, calls),
      engine: tradesOf(engine, calls),
    };
    if (new Set(Object.values(trades)).size > 1)
      throw new Error(`the same calls do not make the same trades: ${JSON.stringify(trades)}`);
    const lane = (made: () => Matcher) => () => {
      const until = performance.now() + settings.seconds * 1_000;
      let [done, millis] = [0, 0];
      do {
        const matcher = made();
        const begun = performance.now();
        for (const call of calls) matcher(call);
        millis += performance.now() - begun;
        done += calls.length;
      } while (performance.now() < until);
      return Promise.resolve(done / (millis / 1_000));
    };
    const { medians, runs } = await alternating(
      { npm: lane(npmBook), book: lane(ownBook), engine: lane(engine) },
      settings,
    );
    const baseline = { name: 'nodejs-order-book', measured: medians.npm };
    return {
      checks: [
        asFastAs('book: orders and cancels', '/s', medians.book, baseline, { minimum: 10, goal: 10 }),
        forComparison('engine: with accounts, holds and fees', '/s', medians.engine, baseline),
      ],
      details: { runs, trades_in_a_pass: trades },
    };
  },
};

/** Carries out a call. Returns the number of its trades. */
type Matcher = (call: BookCall) => number;

function tradesOf(made: () => Matcher, calls: readonly BookCall[]): number {
  const matcher = made();
  return calls.reduce((sum, call) => sum + matcher(call), 0);
}

function npmBook(): Matcher {
  const book = new NpmOrderBook();
  return ({ what, id, isBid, price, size }) => {
    if (what === 'cancel') {
      book.cancel(id);
      return 0;
    }
    const side = isBid ? Side.BUY : Side.SELL;
    const { done, partial } = book.limit({ id, side, price, size });
    const listed = partial === null ? done.length : done.length + 1;
    // The result lists every order that was filled or partly filled, including the new one.
    const isItself = done.at(-1)?.id === id || partial?.id === id;
    return isItself ? listed - 1 : listed;
  };
}

function ownBook(): Matcher {
  const book = new OrderBook();
  return (call) => {
    if (call.what === 'cancel') {
      book.cancel(call.id);
      return 0;
    }
    const placed = book.place(orderOf(call));
    return 'matches' in placed ? placed.matches.length : 0;
  };
}

function engine(): Matcher {
  const exchange = new MatchingExchange({ fees: FEES_OF_B, pays_pairs: true });
  exchange.list(MARKET, evenGrid(TICK, { min_size: TICK, size_step: TICK }));
  for (let account = 0; account < ACCOUNTS; account += 1) exchange.accounts.pay(`account-${account}`, CASH);
  return (call) => {
    if (call.what === 'cancel') {
      exchange.cancel(call.id);
      return 0;
    }
    const placed = exchange.place(MARKET, orderOf(call));
    return placed.ok ? placed.trades.length : 0;
  };
}

/**
 * Selling the first outcome without holding it means buying the second. Buyers and sellers differ, so that no
 * account trades with itself.
 */
function orderOf({ id, isBid, price, size, account }: BookCall): NewOrder {
  const own = isBid ? { outcome: 0, price: price * TICK } : { outcome: 1, price: SHARE - price * TICK };
  return {
    ...{ order_id: id, account: `account-${account}`, side: 'buy', size: size * SHARE, lifetime: 'rest' },
    outcome: isBid ? 0 : 1,
    price: own.price,
  };
}
