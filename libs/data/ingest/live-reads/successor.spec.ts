import { afterAll, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { TradeEvent } from '../../rules/events.js';
import { microsOfTime } from '../../rules/times.js';
import { openSeed } from '../seed/seed.js';
import { SeedWorld } from '../seed/world.js';
import type { LiveSource } from './port.js';
import { successor } from './successor.js';

const clock = new MovableClock();
const START = Math.floor(Number(clock.epochNanos() / 1_000_000_000n)) * 1_000_000 - 86_400_000_000;
const endAtStart = new Set(['venue_b'] as const);
const world = new SeedWorld({ seed: 'one', start: START, scale: 0.5, endAtStart });

afterAll(() => {
  clock.forgetTimers();
});

const page = { trades: [], cursor: '' };
const requests: string[] = [];
const today: LiveSource = {
  market: (id) => Promise.resolve(void requests.push(id)),
  tradesOfB: ({ ticker }) => Promise.resolve(ticker === 'TODAY' ? page : undefined),
};

const both = successor(
  today,
  openSeed({
    ...{ seed: 'one', clock, scale: 0.5, endAtStart },
    stored: () => Promise.resolve(`seed/1 ${String(START)} ${String(START)} 0.5 one`),
  }).endedSources.get('venue_b'),
);

it('a market of the former source is shown in its state at the first start, with the trades that are in the store', async () => {
  const events = world.events('venue_b', { from: world.opens, until: START });
  const trades = events.filter((event): event is TradeEvent => event.type === 'TRADE');
  const newest = trades.toSorted((left, right) => right.source_ts - left.source_ts)[0];
  const ticker = newest?.market_id ?? '';
  expect(await both.market(ticker)).toMatchObject({ id: ticker });
  const page = await both.tradesOfB?.({ ticker, limit: 500 });
  expect(page?.trades.length).toBeGreaterThan(0);
  const stored = new Set(trades.map(({ source_id }) => source_id));
  expect(page?.trades.filter(({ trade_id }) => !stored.has(trade_id))).toEqual([]);
  expect(microsOfTime(page?.trades[0]?.created_time ?? '')).toBeLessThan(START);
});

it('the current source is asked first, and a market unknown to both is not found', async () => {
  expect(await both.tradesOfB?.({ ticker: 'TODAY', limit: 1 })).toBe(page);
  expect(await both.tradesOfB?.({ ticker: 'NEVER', limit: 1 })).toBeUndefined();
  expect(await both.market('NEVER')).toBeUndefined();
  expect(requests).toContain('NEVER');
});

it('a failure of the current source is not replaced by former data', async () => {
  const away = { ...today, market: () => Promise.reject(new Error('away')) };
  await expect(successor(away, both).market('x')).rejects.toThrow('away');
});

it('without a former source, the current one answers alone', () => {
  expect(successor(today, undefined)).toBe(today);
});
