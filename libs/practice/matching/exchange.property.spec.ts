import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { costOf, type Cash } from './accounts.js';
import { MatchingExchange, type FeeSchedule } from './exchange.js';
import { evenGrid, isOnGrid, type PriceGrid } from './grid.js';
import { ONE_DOLLAR, type NewOrder, type OutcomeIndex } from './order-book.js';

const CENT = 10_000;
const ACCOUNTS = ['ann', 'ben', 'cid'] as const;
const MARKET = 'rain';
const GRID = evenGrid(CENT, { min_size: 1, size_step: 1 });

/** A tenth of the trade's value, for takers only. */
const FEES: FeeSchedule = {
  fee: (price, size, liquidity) => (liquidity === 'maker' ? 0n : costOf(price, size) / 10n),
  most: (limit, size) => costOf(limit, size) / 10n + BigInt(size),
};

function opened(paysPairs = false): MatchingExchange {
  const exchange = new MatchingExchange({ fees: FEES, pays_pairs: paysPairs });
  exchange.list(MARKET, GRID);
  for (const account of ACCOUNTS) exchange.accounts.pay(account, costOf(ONE_DOLLAR, 100));
  return exchange;
}

const anyOrder: fc.Arbitrary<Omit<NewOrder, 'order_id'>> = fc.record({
  account: fc.constantFrom(...ACCOUNTS),
  outcome: fc.constantFrom<OutcomeIndex>(0, 1),
  side: fc.constantFrom<NewOrder['side']>('buy', 'buy', 'sell'),
  price: fc.integer({ min: 1, max: 9 }).map((tenths) => tenths * 100_000),
  size: fc.integer({ min: 1, max: 40 }),
  lifetime: fc.constantFrom<NewOrder['lifetime']>('rest', 'rest', 'immediate', 'all-or-nothing'),
});
type Step =
  | { readonly order: Omit<NewOrder, 'order_id'> }
  | { readonly cancel: number }
  | { readonly amend: number; readonly price: number; readonly size: number };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: anyOrder.map((order) => ({ order })) },
  { weight: 1, arbitrary: fc.nat(80).map((cancel) => ({ cancel })) },
  {
    weight: 2,
    arbitrary: fc.record({
      amend: fc.nat(80),
      price: fc.integer({ min: 1, max: 9 }).map((tenths) => tenths * 100_000),
      size: fc.integer({ min: 1, max: 40 }),
    }),
  },
);

/** All cash, plus a dollar for each pair of shares. Only fees reduce it. */
function worth(exchange: MatchingExchange): Cash {
  const cash = ACCOUNTS.reduce((sum, account) => sum + exchange.accounts.cashOf(account).total, 0n);
  return cash + costOf(ONE_DOLLAR, sharesOf(exchange, 0));
}

function sharesOf(exchange: MatchingExchange, outcome: OutcomeIndex): number {
  return ACCOUNTS.reduce(
    (sum, account) => sum + exchange.accounts.holding(account, MARKET, outcome).total,
    0,
  );
}

function play(exchange: MatchingExchange, steps: readonly Step[]): Cash {
  let fees = 0n;
  for (const [index, step] of steps.entries()) {
    if ('cancel' in step) {
      exchange.cancel(`order-${step.cancel}`);
      continue;
    }
    const placed =
      'amend' in step
        ? exchange.amend(`order-${step.amend}`, step.price, step.size)
        : exchange.place(MARKET, { ...step.order, order_id: `order-${index}` });
    if (placed.ok) for (const { maker, taker } of placed.trades) fees += maker.fee + taker.fee;
  }
  return fees;
}

function shownBy(exchange: MatchingExchange) {
  const held = ACCOUNTS.map((account) => [
    exchange.accounts.cashOf(account),
    exchange.accounts.holding(account, MARKET, 0),
    exchange.accounts.holding(account, MARKET, 1),
  ]);
  return { held, orders: [...(exchange.market(MARKET)?.book.orders() ?? [])] };
}

describe('an exchange', () => {
  it('conserves dollars and pairs of shares through any orders', () => {
    fc.assert(
      fc.property(
        fc.array(anyStep, { maxLength: 80 }),
        fc.boolean(),
        fc.boolean(),
        (steps, firstWins, paysPairs) => {
          const exchange = opened(paysPairs);
          const before = worth(exchange);
          const fees = play(exchange, steps);
          expect(worth(exchange)).toBe(before - fees);
          expect(sharesOf(exchange, 0)).toBe(sharesOf(exchange, 1));
          exchange.resolve(MARKET, firstWins ? [ONE_DOLLAR, 0] : [0, ONE_DOLLAR]);
          expect(sharesOf(exchange, 0) + sharesOf(exchange, 1)).toBe(0);
          for (const account of ACCOUNTS) expect(exchange.accounts.cashOf(account).held).toBe(0n);
          expect(worth(exchange)).toBe(before - fees);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('amends like a cancel and a new order, unless the order only becomes smaller', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), anyOrder, anyOrder, (steps, order, to) => {
        const [amended, replaced] = [opened(), opened()];
        for (const exchange of [amended, replaced]) {
          play(exchange, steps);
          exchange.place(MARKET, { ...order, order_id: 'it', lifetime: 'rest' });
        }
        const before = amended.find('it')?.order;
        const outcome = amended.amend('it', to.price, to.size);
        if (before === undefined || (to.price === before.price && to.size <= before.remaining)) return;
        replaced.cancel('it');
        const placed = replaced.place(MARKET, {
          ...{ ...order, order_id: 'it', lifetime: 'rest', price: to.price, size: to.size },
        });
        expect(outcome).toEqual(placed);
        if (placed.ok) expect(shownBy(amended)).toEqual(shownBy(replaced));
        else expect(amended.find('it')?.order).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });

  it('reaches the same state from the same commands', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const [once, again] = [opened(), opened()];
        play(once, steps);
        play(again, steps);
        expect(shownBy(again)).toEqual(shownBy(once));
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, Partial<NewOrder>]>([
    ['off-grid', { price: 505_000 }],
    ['off-grid', { price: ONE_DOLLAR }],
    ['bad-size', { size: 0 }],
    ['no-cash', { size: 1_000 }],
    ['no-shares', { side: 'sell' }],
  ])('an order refused with %s reserves nothing', (refusal, differing) => {
    const exchange = opened();
    const before = exchange.accounts.cashOf('ann');
    const order: NewOrder = {
      ...{
        order_id: '1',
        account: 'ann',
        outcome: 0,
        side: 'buy',
        price: 500_000,
        size: 10,
        lifetime: 'rest',
      },
      ...differing,
    };
    expect(exchange.place(MARKET, order)).toEqual({ ok: false, refusal });
    expect(exchange.accounts.cashOf('ann')).toEqual(before);
  });

  it('orders rest through a halt, and the close cancels them', () => {
    const exchange = opened();
    const order: NewOrder = {
      ...{
        order_id: '1',
        account: 'ann',
        outcome: 0,
        side: 'buy',
        price: 500_000,
        size: 10,
        lifetime: 'rest',
      },
    };
    exchange.place(MARKET, order);
    expect(exchange.setStatus(MARKET, 'halted')).toEqual([]);
    expect(exchange.place(MARKET, { ...order, order_id: '2' })).toEqual({ ok: false, refusal: 'not-open' });
    expect(exchange.setStatus(MARKET, 'closed')).toMatchObject([{ order_id: '1', remaining: 10 }]);
    expect(exchange.accounts.cashOf('ann').held).toBe(0n);
  });
});

describe('a grid of bands', () => {
  const grid: PriceGrid = {
    ...{ min_size: 1, size_step: 1 },
    bands: [
      { start: 0, end: 100_000, step: 1_000 },
      { start: 100_000, end: 900_000, step: 10_000 },
      { start: 900_000, end: ONE_DOLLAR, step: 1_000 },
    ],
  };

  it.each([
    [99_000, true],
    [99_500, false],
    [100_000, true],
    [101_000, false],
    [900_000, true],
    [901_000, true],
    [0, false],
    [ONE_DOLLAR, false],
  ])('has %d: %s', (price, isThere) => {
    expect(isOnGrid(grid, price)).toBe(isThere);
  });
});
