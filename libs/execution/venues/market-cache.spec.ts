import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { VenueMarket } from '../rules/markets.js';
import { CachedMarkets } from './market-cache.js';
import { VenueUnavailable, type VenueMarkets } from './port.js';

const RAIN: VenueMarket = {
  ...{ exchange_id: 'venue_b', market_id: 'RAIN', title: 'Rain', status: 'open', neg_risk: false },
  ...{ outcomes: [], min_size: 1n, closes_at: '2027-01-01T00:00:00.000Z' },
};

let clock: MovableClock;
let asked: string[];
let venue: Map<string, VenueMarket>;
let isAway: boolean;
let cache: CachedMarkets;

beforeEach(() => {
  clock = new MovableClock();
  [asked, isAway, venue] = [[], false, new Map([['RAIN', RAIN]])];
  const markets: VenueMarkets = {
    market: (id) => {
      asked.push(id);
      return isAway ? Promise.reject(new VenueUnavailable('away')) : Promise.resolve(venue.get(id));
    },
    list: () => Promise.resolve([...venue.values()]),
    best: () => Promise.resolve({}),
    status: () => Promise.resolve({ exchange_active: true, trading_active: true }),
  };
  cache = new CachedMarkets(markets, clock);
});
afterEach(() => {
  clock.forgetTimers();
});

it('concurrent callers share one request, and a status older than 2 s is asked again', async () => {
  await Promise.all([cache.market('RAIN'), cache.market('RAIN'), cache.market('RAIN')]);
  clock.leap(1_900);
  await cache.market('RAIN');
  expect(asked).toEqual(['RAIN']);
  venue.set('RAIN', { ...RAIN, status: 'closed' });
  clock.leap(200);
  expect(await cache.market('RAIN')).toMatchObject({ status: 'closed' });
});

it('an unknown market is remembered as unknown for 2 s', async () => {
  expect(await cache.market('SNOW')).toBeUndefined();
  venue.set('SNOW', { ...RAIN, market_id: 'SNOW' });
  expect(await cache.market('SNOW')).toBeUndefined();
  clock.leap(2_100);
  expect(await cache.market('SNOW')).toMatchObject({ market_id: 'SNOW' });
});

it('a silent venue leaves cached markets readable, and other markets fail', async () => {
  await cache.list(undefined, 10);
  isAway = true;
  clock.leap(60_000);
  expect(await cache.market('RAIN')).toEqual(RAIN);
  await expect(cache.market('SNOW')).rejects.toThrow(VenueUnavailable);
});
