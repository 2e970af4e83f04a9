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

/** Orders that rest, orders that trade and cancels, the same for all: in memory alone, on one thread. */
export const matching: Row = {
  name: 'matching',
  title: 'Matching engine of the practice venues, beside the order book of npm that is kept best',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const calls = bookCalls(settings.quick ? FEW : CALLS);
    const trades = {
      npm: tradesOf(npmBook, calls),
      book: tradesOf(ownBook, calls),
      engine: tradesOf(engine, calls),
    };
    if (new Set(Object.values(trades)).size > 1)
      throw new Error(`the same calls do not make the same trades: ${JSON.stringify(trades)}`);
    const lane = (made: () => Taker) => () => {
      const until = performance.now() + settings.seconds * 1_000;
      let [done, millis] = [0, 0];
      do {
        const taker = made();
        const begun = performance.now();
        for (const call of calls) taker(call);
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

/** The trades that it made. */
type Taker = (call: BookCall) => number;

function tradesOf(made: () => Taker, calls: readonly BookCall[]): number {
  const taker = made();
  return calls.reduce((sum, call) => sum + taker(call), 0);
}

function npmBook(): Taker {
  const book = new NpmOrderBook();
  return ({ what, id, isBid, price, size }) => {
    if (what === 'cancel') {
      book.cancel(id);
      return 0;
    }
    const side = isBid ? Side.BUY : Side.SELL;
    const { done, partial } = book.limit({ id, side, price, size });
    const met = partial === null ? done.length : done.length + 1;
    // Whoever is filled or filled in part by this is told, and so is this itself.
    const isItself = done.at(-1)?.id === id || partial?.id === id;
    return isItself ? met - 1 : met;
  };
}

function ownBook(): Taker {
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

function engine(): Taker {
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

/** To sell the first outcome without having any is to buy the second. Buyers and sellers are others, as nobody trades with himself. */
function orderOf({ id, isBid, price, size, account }: BookCall): NewOrder {
  const own = isBid ? { outcome: 0, price: price * TICK } : { outcome: 1, price: SHARE - price * TICK };
  return {
    ...{ order_id: id, account: `account-${account}`, side: 'buy', size: size * SHARE, lifetime: 'rest' },
    outcome: isBid ? 0 : 1,
    price: own.price,
  };
}
