import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { MeddlingProxy } from '#libs/testing/network/meddling-proxy.js';
import { openPracticeB, type PracticeB } from '#libs/testing/practice-b.js';
import { openPracticeE, type PracticeE } from '#libs/testing/practice-e.js';
import type { LiveSource } from '../live-reads/port.js';
import { practiceLiveSources } from './practice-feeds.js';

const clock = new SystemClock();

function sourceOf(provider: 'venue_b' | 'venue_e', url: string): LiveSource {
  const address = provider === 'venue_b' ? { venueBUrl: url } : { venueEUrl: url };
  const source = practiceLiveSources({ clock, timeoutMillis: 500, ...address }).get(provider);
  if (source === undefined) throw new Error('there is no source');
  return source;
}

describe('live reads of practice venue b', () => {
  let practice: PracticeB;
  let proxy: MeddlingProxy;
  let source: LiveSource;
  beforeAll(async () => {
    practice = await openPracticeB();
    proxy = await MeddlingProxy.open(practice.open.port);
    source = sourceOf('venue_b', proxy.url);
  });
  afterAll(async () => {
    await proxy.close();
    await practice.close();
  });

  async function traded(prices: readonly string[]): Promise<string> {
    const [maker, taker] = [await practice.account(), await practice.account()];
    const ticker = await practice.market({ title: 'Rain' });
    for (const price of prices) {
      for (const [client, side] of [
        [maker, 'ask'],
        [taker, 'bid'],
      ] as const) {
        await client.orders.createOrderV2({
          ...{ ticker, side, price, count: '2.50', time_in_force: 'good_till_canceled' },
          self_trade_prevention_type: 'taker_at_cross',
        });
      }
    }
    return ticker;
  }

  it('a market shows its last price if its book gives none', async () => {
    const ticker = await traded(['0.4000']);
    expect(await source.market(ticker)).toMatchObject({
      ...{ id: ticker, title: 'Rain', rules_primary: 'Rain', rules_secondary: null, tick_size: 0.01 },
      ...{ min_price: 0.01, max_price: 0.99, lot_size: 0.01, quote_currency: 'USD', active: true },
      outcomes: [
        { label: 'Yes', token_id: null, price: 0.4 },
        { label: 'No', token_id: null, price: 0.6 },
      ],
    });
    await practice.call('POST', `/markets/venue_b/${ticker}/resolve`, { payouts: ['0', '1'] });
    expect(await source.market(ticker)).toMatchObject({
      active: false,
      outcomes: [{ price: 0 }, { price: 1 }],
    });
  });

  it('a market without trades has no price; an unknown market is not found', async () => {
    const ticker = await practice.market();
    expect((await source.market(ticker))?.outcomes.map(({ price }) => price)).toEqual([null, null]);
    for (const id of ['KXNONE', 'KX/../portfolio', '..', 'trades', '']) {
      expect(await source.market(id)).toBeUndefined();
    }
  });

  it('trades come newest first, page by page', async () => {
    const ticker = await traded(['0.4000', '0.5000', '0.6000']);
    const first = await source.tradesOfB?.({ ticker, limit: 2 });
    expect(first?.trades).toMatchObject([
      { ticker, price: 0.6, count: 2.5, taker_side: 'yes', created_time: expect.stringMatching(/Z$/) },
      { price: 0.5 },
    ]);
    const next = await source.tradesOfB?.({ ticker, limit: 2, cursor: first?.cursor ?? '' });
    expect(next).toMatchObject({ trades: [{ price: 0.4 }], cursor: '' });
    expect(await source.tradesOfB?.({ ticker, limit: 2, cursor: 'made up' })).toBeUndefined();
    expect(await source.tradesOfB?.({ ticker: 'KXNONE', limit: 2 })).toBeUndefined();
    expect(await source.tradesOfB?.({ ticker: await practice.market(), limit: 2 })).toEqual({
      trades: [],
      cursor: '',
    });
  });

  it('too many requests are reported as 429', async () => {
    const ticker = await practice.market();
    practice.open.faults.arm({ fault: 'rate_limit', calls: ['read'] });
    await expect(source.market(ticker)).rejects.toMatchObject({ status: 429 });
    expect(await source.market(ticker)).toBeDefined();
  });

  it.each([
    ['hangs', { answers: 'hang' }],
    ['is refused', { answers: { status: 500, body: '' } }],
    ['has other names', { body: (body: string): string => body.replaceAll('price', 'cost') }],
  ] as const)('a body that %s fails the read', async (_, how) => {
    const ticker = await traded(['0.4000']);
    proxy.meddle(how);
    await expect(source.market(ticker)).rejects.toMatchObject({ name: 'LiveReadFailed', status: 502 });
    await expect(source.tradesOfB?.({ ticker, limit: 1 })).rejects.toThrow();
    proxy.meddle({});
  });
});

describe('live reads of practice venue e', () => {
  let practice: PracticeE;
  let source: LiveSource;
  beforeAll(async () => {
    practice = await openPracticeE();
    source = sourceOf('venue_e', practice.url);
  });
  afterAll(() => practice.close());

  it('a market is found by number and token ids, with the middle of its books', async () => {
    const shown = await source.market('5');
    const [yes, no] = shown?.outcomes ?? [];
    expect(shown).toMatchObject({
      id: '5',
      active: true,
      quote_currency: 'USDC',
      tick_size: 0.0001,
      lot_size: 1,
    });
    expect([yes?.token_id, no?.token_id]).toEqual(['#50', '#51']);
    expect((yes?.price ?? 0) + (no?.price ?? 0)).toBeCloseTo(1, 5);
    expect((await source.market('#51'))?.id).toBe('5');
    for (const id of ['4', '#52', 'five', '']) expect(await source.market(id)).toBeUndefined();
  });

  it('a settled market', async () => {
    const outcome = await practice.market();
    await practice.call('POST', `/markets/venue_e/${outcome}/resolve`, { payouts: ['0.25', '0.75'] });
    expect(await source.market(String(outcome))).toMatchObject({
      ...{ active: false, outcomes: [{ price: 0.25 }, { price: 0.75 }] },
    });
  });
});
