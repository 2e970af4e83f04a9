import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { MarketDataEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import { openSeed } from '../seed/seed.js';
import { SeedWorld } from '../seed/world.js';
import { type LiveReads, openLiveReads } from './live-reads.js';
import type { ShownMarket, LivePageOfB, LiveSource, LiveTradeOfA } from './port.js';

const SECOND = 1_000_000;
const clock = new MovableClock();
/** The first start was two days ago. */
const START = Math.floor(Number(clock.epochNanos() / 1_000n) / SECOND) * SECOND - 2 * 86_400 * SECOND;
const world = new SeedWorld({ seed: 'one', start: START, scale: 0.5, endAtStart: new Set() });
const faults: unknown[] = [];
let reads: LiveReads;
let events: ReadonlyMap<Provider, readonly MarketDataEvent[]>;

const broken: LiveSource = { market: () => Promise.reject(new Error('the venue hangs up')) };

beforeAll(async () => {
  clock.stopAtEpoch(clock.epochNanos() + 1_000_000n);
  const now = Number(clock.epochNanos() / 1_000n);
  const { liveSources } = openSeed({
    ...{ seed: 'one', clock, scale: 0.5, endAtStart: new Set(['venue_e'] as const) },
    stored: () => Promise.resolve(`seed/1 ${String(START)} ${String(START)} 0.5 one`),
  });
  const sources = new Map<Provider, LiveSource>([...liveSources, ['venue_d', broken]]);
  reads = await openLiveReads({ sources, onFault: (error) => faults.push(error) }, 0);
  const span = { from: world.opens, until: now + 1 };
  events = new Map((['venue_a', 'venue_b'] as const).map((of) => [of, world.events(of, span)]));
});
afterAll(async () => {
  await reads.close();
  clock.forgetTimers();
});
afterEach(() => {
  faults.length = 0;
});

async function get(path: string, init?: RequestInit): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${String(reads.port)}${path}`, init);
  return { status: response.status, body: await response.json() };
}

function tradesOf(provider: Provider, wanted: (event: MarketDataEvent) => boolean): MarketDataEvent[] {
  const all = events.get(provider) ?? [];
  const busted = new Set(
    all.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : [])),
  );
  return all
    .filter((event) => event.type === 'TRADE' && wanted(event) && !busted.has(event.source_id))
    .sort((left, right) => right.source_ts - left.source_ts || (left.source_id < right.source_id ? 1 : -1));
}

function busiest(provider: Provider): string {
  const counts = new Map<string, number>();
  for (const event of events.get(provider) ?? []) {
    if (event.type === 'TRADE') counts.set(event.market_id, (counts.get(event.market_id) ?? 0) + 1);
  }
  return [...counts].sort((left, right) => right[1] - left[1])[0]?.[0] ?? '';
}

function listingOf(provider: Provider, id: string): MarketDataEvent & { readonly type: 'MARKET' } {
  const found = (events.get(provider) ?? []).find(
    (event) => event.type === 'MARKET' && event.market_id === id,
  );
  if (found?.type !== 'MARKET') throw new Error('no such market');
  return found;
}

describe('live reads', () => {
  it('of trades of venue_a return those that the feed has sent, newest first', async () => {
    const id = busiest('venue_a');
    const { condition_id = '' } = listingOf('venue_a', id);
    const { status, body } = await get(`/a/trades?market=${condition_id}&limit=50`);
    expect(status).toBe(200);
    const wanted = tradesOf('venue_a', (event) => 'market_id' in event && event.market_id === id).slice(
      0,
      50,
    );
    expect(wanted.length).toBe(50);
    const shown = body as LiveTradeOfA[];
    expect(Object.keys(shown[0] ?? {}).sort()).toEqual([
      ...['asset', 'conditionId', 'outcome', 'outcomeIndex', 'price', 'proxyWallet', 'side', 'size'],
      ...['timestamp', 'transactionHash'],
    ]);
    expect(shown.map(({ price, size, timestamp }) => [price, size, timestamp])).toEqual(
      wanted.flatMap((event) =>
        event.type === 'TRADE'
          ? [[event.price / 1e6, Number(event.size) / 1e6, Math.floor(event.source_ts / SECOND)]]
          : [],
      ),
    );
  });

  it('of several markets of venue_a include all of them, and unknown ones have no trades', async () => {
    const conditions = (events.get('venue_a') ?? []).flatMap((event) =>
      event.type === 'MARKET' && event.condition_id !== undefined ? [event.condition_id] : [],
    );
    const [first, second] = [conditions.at(-1), conditions.at(-9)];
    const { body } = await get(`/a/trades?market=${first ?? ''},0xno,${second ?? ''}`);
    const shown = body as LiveTradeOfA[];
    expect(shown.every(({ conditionId }) => [first, second].includes(conditionId))).toBe(true);
    expect((await get('/a/trades?market=0xno')).body).toEqual([]);
  });

  it('of trades of venue_b come in pages to the end, each trade once', async () => {
    const ticker = busiest('venue_b');
    const ids: string[] = [];
    let cursor = '';
    do {
      const { status, body } = await get(`/b/markets/trades?ticker=${ticker}&limit=40&cursor=${cursor}`);
      expect(status).toBe(200);
      const page = body as LivePageOfB;
      expect(page.trades.every((trade) => trade.ticker === ticker)).toBe(true);
      ids.push(...page.trades.map(({ trade_id }) => trade_id));
      ({ cursor } = page);
    } while (cursor !== '');
    const wanted = tradesOf('venue_b', (event) => 'market_id' in event && event.market_id === ticker);
    expect([...ids].sort()).toEqual(wanted.map(({ source_id }) => source_id).sort());
    expect(wanted.length).toBeGreaterThan(80);
  });

  it('of a market of any venue find it by each of its ids', async () => {
    const listing = listingOf('venue_a', busiest('venue_a'));
    const [{ token_id = '' } = {}] = listing.outcomes;
    for (const id of [listing.market_id, listing.condition_id ?? '', token_id]) {
      const { status, body } = await get(`/a/markets/${id}`);
      expect(status).toBe(200);
      const { market } = body as { market: ShownMarket };
      expect(Object.keys(market).sort()).toEqual([
        ...[
          'active',
          'banner',
          'description',
          'event_id',
          'event_name',
          'expires_at',
          'icon',
          'id',
          'lot_size',
        ],
        ...['max_price', 'min_price', 'outcomes', 'quote_currency', 'rules_primary', 'rules_secondary'],
        ...['rules_source', 'tick_size', 'title', 'url'],
      ]);
      expect(market).toMatchObject({ id: listing.market_id, title: listing.name, rules_secondary: null });
      expect(market.outcomes.map(({ label }) => label)).toEqual(listing.outcomes.map(({ label }) => label));
      expect(market.outcomes.reduce((sum, { price }) => sum + (price ?? 0), 0)).toBeCloseTo(1, 6);
    }
    expect((await get('/b/markets/unknown')).status).toBe(404);
  });

  it('of a settled market show its payout', async () => {
    const settled = (events.get('venue_b') ?? []).findLast(
      (event) => event.type === 'RESOLUTION' && event.status === 'settled',
    );
    const id = settled !== undefined && 'market_id' in settled ? settled.market_id : '';
    const payouts = settled?.type === 'RESOLUTION' ? settled.payouts : [];
    const { status, body } = await get(`/b/markets/${id}`);
    expect(status).toBe(200);
    const { market } = body as { market: ShownMarket };
    expect(market.active).toBe(false);
    expect(market.outcomes.map(({ price }) => (price ?? 0) * 1e6)).toEqual(payouts);
  });

  it('serve only the routes of the contract', async () => {
    const unknown = [
      '/',
      '/a',
      '/f/markets/x',
      '/e/markets/x',
      '/c/trades?market=x',
      '/a/markets',
      '/a/markets/',
      '/x/y',
    ];
    for (const path of unknown) expect((await get(path)).status).toBe(404);
    const bad = [
      '/a/trades',
      '/a/trades?market=',
      '/a/trades?market=x&limit=0',
      '/a/trades?market=x&limit=501',
    ];
    for (const path of [...bad, '/b/markets/trades', '/b/markets/trades?ticker=x,y']) {
      expect((await get(path)).status).toBe(400);
    }
    const page = `/b/markets/trades?ticker=${busiest('venue_b')}`;
    expect((await get(`${page}&cursor=x`)).status).toBe(404);
    expect((await get(`${page}&cursor=0`)).body).toEqual({ trades: [], cursor: '' });
    expect((await get(`${page}&cursor=999999999`)).status).toBe(200);
    expect((await get('/a/trades?market=x', { method: 'POST' })).status).toBe(405);
    expect((await get('/a/trades?market=x', { method: 'DELETE' })).status).toBe(405);
    expect(reads.addressOf('venue_a')).toBe(`http://127.0.0.1:${String(reads.port)}/a`);
    expect(reads.addressOf('venue_e')).toBeUndefined();
    expect(faults).toEqual([]);
  });

  it('of a venue that cannot be read fail, without a guess', async () => {
    expect((await get('/d/markets/x')).status).toBe(502);
    expect(faults).toHaveLength(1);
  });
});
