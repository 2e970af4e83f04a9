import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evenGrid } from '../matching/grid.js';
import { FEES_OF_B } from '../venues/b/fees.js';
import { PracticeVenue } from './practice-venue.js';
import type { LoggedCommand, MarketTerms, VenueCommand } from './terms.js';
import { VenueState, type VenueRules } from './venue-state.js';

const CENT = 10_000;
const ACCOUNTS = ['ann', 'ben', 'cid'] as const;
const RULES: readonly VenueRules[] = [
  { fees: FEES_OF_B, pays_pairs: true, book: 'one' },
  { fees: { fee: () => 0n, most: () => 0n }, pays_pairs: false, book: 'a-side' },
];
const MARKET: MarketTerms = {
  ...{ market_id: 'rain', title: 'Rain', neg_risk: false, outcomes: ['Yes', 'No'], publishes_grid: true },
  ...{
    grid: evenGrid(CENT, { min_size: CENT, size_step: CENT }),
    listed_at: 0,
    closes_at: 1e12,
    seeded: true,
  },
};

type Step = VenueCommand | { readonly quote: number } | { readonly wait: number };

const anyOrderId = fc.nat(40).map((index) => `order-${index}`);
const anyPrice = fc.integer({ min: 35, max: 65 }).map((cents) => cents * CENT);
const anySize = fc.integer({ min: 1, max: 500_00 }).map((hundredths) => hundredths * CENT);
const anyPlace = fc.record({
  account: fc.constantFrom(...ACCOUNTS),
  outcome: fc.constantFrom<0 | 1>(0, 1),
  side: fc.constantFrom<'buy' | 'sell'>('buy', 'buy', 'sell'),
  price: anyPrice,
  size: anySize,
  lifetime: fc.constantFrom<'rest' | 'immediate' | 'all-or-nothing'>(
    'rest',
    'rest',
    'immediate',
    'all-or-nothing',
  ),
});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(anyPlace, fc.option(fc.integer({ min: 1, max: 500 })))
      .map(([order, lives]): Step => ({
        do: 'place',
        order: {
          ...{ ...order, order_id: '', market_id: 'rain' },
          ...(lives === null || order.lifetime !== 'rest' ? {} : { expires_at: lives }),
        },
      })),
  },
  { weight: 2, arbitrary: anyOrderId.map((order_id): Step => ({ do: 'cancel', order_id, why: 'user' })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyOrderId, anyPrice, anySize)
      .map(([order_id, price, remaining]): Step => ({ do: 'amend', order_id, price, remaining })),
  },
  { weight: 3, arbitrary: anyPrice.map((quote): Step => ({ quote })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }).map((wait): Step => ({ wait })) },
);

/** A venue with a log in memory. */
class PlayedVenue {
  readonly log: LoggedCommand[] = [];
  readonly state: VenueState;
  private now = 0;
  private readonly venue: PracticeVenue;

  constructor(rules: VenueRules) {
    this.state = new VenueState(rules);
    const append = (command: LoggedCommand): Promise<void> => {
      this.log.push(command);
      return Promise.resolve();
    };
    this.venue = new PracticeVenue({
      ...{ exchange_id: 'venue_b', state: this.state, log: { append, durable: () => Promise.resolve() } },
      ...{ now: () => this.now, newId: () => 'id', onLost: () => undefined },
    });
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.venue.ask({ do: 'list', market: MARKET });
    for (const account of ACCOUNTS)
      await this.venue.ask({ do: 'credit', account, amount: '400000000', movement_id: account });
    for (const [index, step] of steps.entries()) {
      if ('quote' in step) this.venue.quote('rain', step.quote);
      else if ('wait' in step) this.now += step.wait;
      else if (step.do === 'place')
        await this.venue.ask({ ...step, order: { ...step.order, order_id: `order-${index}` } });
      else await this.venue.ask(step);
    }
  }
}

/** Everything readable except bot quotes that have not traded. */
function shown(state: VenueState): object {
  return {
    orders: state.ordersIn('rain'),
    trades: state.trades('rain'),
    accounts: ACCOUNTS.map((account) => ({
      cash: state.cash(account),
      holdings: [state.holding(account, 'rain', 0), state.holding(account, 'rain', 1)],
      fills: state.fillsOf(account),
      movements: state.movementsOf(account),
    })),
  };
}

describe.each(RULES)('a venue with $book book', (rules) => {
  it('is rebuilt from its log, including bots and expiry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60 }), async (steps) => {
        const played = new PlayedVenue(rules);
        await played.play(steps);
        const again = new VenueState(rules);
        for (const command of played.log) expect(again.apply(command).reply).toMatchObject({ ok: true });
        expect(shown(again)).toEqual(shown(played.state));
      }),
      { numRuns: 150 },
    );
  });

  it('frees all reservations once no order rests, and leaves no pair unpaid', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60 }), async (steps) => {
        const played = new PlayedVenue(rules);
        await played.play(steps);
        const { state } = played;
        state.apply({ at: 0, do: 'status', market_id: 'rain', status: 'closed' });
        for (const account of ACCOUNTS) {
          expect(state.cash(account).held).toBe(0n);
          const [yes, no] = [state.holding(account, 'rain', 0), state.holding(account, 'rain', 1)];
          expect([yes.held, no.held]).toEqual([0, 0]);
          if (rules.pays_pairs) expect(Math.min(yes.total, no.total)).toBe(0);
        }
      }),
      { numRuns: 150 },
    );
  });
});
