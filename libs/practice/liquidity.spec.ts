import { describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { BotLiquidity } from './liquidity.js';
import { PracticeVenue } from './venue/practice-venue.js';
import type { LoggedCommand } from './venue/terms.js';
import { VenueState } from './venue/venue-state.js';
import { FEES_OF_B } from './venues/b/fees.js';
import { newMarketOfB, seedsOfB } from './venues/b/markets.js';

const TICKER = 'KXSNOW-26DEC';

interface Market {
  readonly clock: MovableClock;
  readonly state: VenueState;
  readonly venue: PracticeVenue;
  readonly log: LoggedCommand[];
}

async function opened(): Promise<Market> {
  const clock = new MovableClock();
  const state = new VenueState({ fees: FEES_OF_B, pays_pairs: true, book: 'one' });
  const log: LoggedCommand[] = [];
  const append = (command: LoggedCommand): Promise<void> => {
    log.push(command);
    return Promise.resolve();
  };
  const venue = new PracticeVenue({
    ...{ exchange_id: 'venue_b', state, log: { append, durable: () => Promise.resolve() } },
    ...{ now: () => 0, newId: () => 'id', onLost: () => undefined },
  });
  for (const market of seedsOfB(0)) await venue.ask({ do: 'list', market });
  const made = newMarketOfB('KXMADE-1', { neg_risk: false }, 0);
  await venue.ask({
    do: 'list',
    market: { ...made, publishes_grid: true, closes_at: 1e12, seeded: false },
  });
  return { clock, state, venue, log };
}

function steps({ clock, state, venue }: Market, seed: number, count: number): number[] {
  const bots = new BotLiquidity({ venue, clock, seed, isStill: false });
  bots.start();
  const prices: number[] = [];
  for (let step = 0; step < count; step += 1) {
    prices.push(state.levels(TICKER, 0, 'buy')[0]?.price ?? 0);
    bots.step();
  }
  bots.stop();
  return prices;
}

describe('the bots of a practice venue', () => {
  it('quote ten levels each way on seeded markets only', async () => {
    const market = await opened();
    steps(market, 1, 50);
    for (const { terms } of market.state.markets()) {
      const levels = [
        market.state.levels(terms.market_id, 0, 'buy'),
        market.state.levels(terms.market_id, 0, 'sell'),
      ];
      expect(levels.map(({ length }) => length)).toEqual(terms.seeded ? [10, 10] : [0, 0]);
    }
  });

  it('quote the same wandering prices for the same seed', async () => {
    const [one, again, other] = [await opened(), await opened(), await opened()];
    const prices = steps(one, 7, 400);
    expect(steps(again, 7, 400)).toEqual(prices);
    expect(steps(other, 8, 400)).not.toEqual(prices);
    expect(new Set(prices).size).toBeGreaterThan(5);
    const home = prices[0]!;
    expect(prices.slice(200).some((price) => Math.abs(price - home) <= 20_000)).toBe(true);
  });

  it('quote only once when still, and never refill, even after a restart', async () => {
    const { clock, state, venue, log } = await opened();
    const still = { venue, clock, seed: 1, isStill: true };
    new BotLiquidity(still).start();
    const [best] = state.levels(TICKER, 0, 'buy');
    await venue.ask({ do: 'credit', account: 'ann/0', amount: '1000000000', movement_id: 'one' });
    const { price, size } = best!;
    await venue.ask({
      do: 'place',
      order: {
        ...{ order_id: '1', account: 'ann/0', market_id: TICKER, outcome: 1, side: 'buy' },
        ...{ price: 1_000_000 - price, size, lifetime: 'immediate' },
      },
    });
    expect(state.levels(TICKER, 0, 'buy')[0]!.price).toBeLessThan(price);
    new BotLiquidity(still).start();
    expect(state.levels(TICKER, 0, 'buy')).toHaveLength(9);
    const again = new VenueState({ fees: FEES_OF_B, pays_pairs: true, book: 'one' });
    for (const command of log) again.apply(command);
    expect(again.levels(TICKER, 0, 'buy')).toEqual(state.levels(TICKER, 0, 'buy'));
  });
});
