import { randomBytes, randomUUID } from 'node:crypto';
import type { CreateOrderV2Request } from 'kalshi-typescript';
import { practiceFeeds } from '#libs/data/ingest/practice/practice-feeds.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { VenueFeedSubject } from '../contracts/venue-feed.contract.js';
import { MeddlingProxy } from '../network/meddling-proxy.js';
import { openPracticeB } from '../practice-b.js';
import { openPracticeE, type EClient } from '../practice-e.js';

const clock = new SystemClock();
const FIRST_ASSET = 100_000_000;

export async function subjectOfB(): Promise<VenueFeedSubject> {
  const practice = await openPracticeB();
  const proxy = await MeddlingProxy.open(practice.open.port);
  const [maker, taker] = [await practice.account('100000'), await practice.account('100000')];
  const secrets = [maker.account, taker.account];
  const place = async (
    client: typeof maker,
    ticker: string,
    more: Pick<CreateOrderV2Request, 'side' | 'price' | 'count'>,
  ): Promise<string> => {
    const client_order_id = randomUUID();
    const { data } = await client.orders.createOrderV2({
      ...{ ticker, ...more, client_order_id, time_in_force: 'good_till_canceled' },
      self_trade_prevention_type: 'taker_at_cross',
    });
    secrets.push(client_order_id, data.order_id);
    return data.order_id;
  };
  return {
    ...{ open: practice.open, proxy },
    feed: () => {
      const [feed] = practiceFeeds({
        ...{ clock, venueBUrl: `${proxy.url}/trade-api/v2`, timeoutMillis: 1_500 },
        venueBAccountsUrl: `http://127.0.0.1:${practice.admin.port}`,
      });
      if (feed === undefined) throw new Error('there is no feed');
      return feed;
    },
    countsVolumes: true,
    market: () => practice.market(),
    trade: async (ticker, contracts) => {
      const count = `${contracts}.00`;
      await place(maker, ticker, { side: 'ask', price: '0.4000', count });
      await place(taker, ticker, { side: 'bid', price: '0.4000', count });
    },
    bid: async (ticker, price) => {
      const id = await place(maker, ticker, { side: 'bid', price: `${price}00`, count: '2.00' });
      return async () => {
        await maker.orders.cancelOrderV2(id);
      };
    },
    setStatus: async (ticker, status) => {
      await practice.call('POST', `/markets/venue_b/${ticker}/status`, { status });
    },
    resolve: async (ticker, payouts) => {
      await practice.call('POST', `/markets/venue_b/${ticker}/resolve`, { payouts });
    },
    secrets: () => secrets,
    renamed: (body) => body.replaceAll('_dollars', '_usd'),
    zeroed: (body) =>
      body.replaceAll(
        /"yes_price_dollars":"[\d.]+","no_price_dollars":"[\d.]+"/g,
        '"yes_price_dollars":"0.0000","no_price_dollars":"1.0000"',
      ),
    isNews: (frame, of) =>
      (of !== 'books' && frame.includes('"type":"trade"')) ||
      (of !== 'trades' && frame.includes('"type":"orderbook_delta"')),
    isTrades: (path) => path.includes('/markets/trades'),
    isMarkets: (path) => path.includes('/markets?'),
    close: async () => {
      await proxy.close();
      await practice.close();
    },
  };
}

export async function subjectOfE(): Promise<VenueFeedSubject> {
  const practice = await openPracticeE();
  const proxy = await MeddlingProxy.open(practice.open.port);
  const [maker, taker] = [await practice.account('100000'), await practice.account('100000')];
  const secrets = [maker.address.toLowerCase(), taker.address.toLowerCase()];
  const place = async (client: EClient, asset: number, p: string, s: string): Promise<number> => {
    const c = `0x${randomBytes(16).toString('hex')}` as const;
    secrets.push(c);
    const order = { a: asset, b: true, p, s, r: false, t: { limit: { tif: 'Gtc' } }, c } as const;
    const { response } = await client.trader.order({ orders: [order], grouping: 'na' });
    const [status] = response.data.statuses;
    return typeof status === 'object' && 'resting' in status ? status.resting.oid : 0;
  };
  const asset = (marketId: string, side: number): number => FIRST_ASSET + Number(marketId) * 10 + side;
  return {
    ...{ open: practice.open, proxy },
    feed: () => {
      const [feed] = practiceFeeds({ clock, venueEUrl: proxy.url, timeoutMillis: 1_500 });
      if (feed === undefined) throw new Error('there is no feed');
      return feed;
    },
    countsVolumes: false,
    market: async () => String(await practice.market()),
    trade: async (marketId, contracts) => {
      await place(maker, asset(marketId, 1), '0.6', String(contracts));
      await place(taker, asset(marketId, 0), '0.4', String(contracts));
    },
    bid: async (marketId, price) => {
      const oid = await place(maker, asset(marketId, 0), price, '2');
      return async () => {
        await maker.trader.cancel({ cancels: [{ a: asset(marketId, 0), o: oid }] });
      };
    },
    setStatus: async (marketId, status) => {
      await practice.call('POST', `/markets/venue_e/${marketId}/status`, { status });
    },
    resolve: async (marketId, payouts) => {
      await practice.call('POST', `/markets/venue_e/${marketId}/resolve`, { payouts });
    },
    secrets: () => secrets,
    renamed: (body) => body.replaceAll('"px"', '"price"'),
    zeroed: (body) => body.replaceAll(/"px":"[\d.]+"/g, '"px":"0.0"'),
    isNews: (frame, of) =>
      (of !== 'books' && frame.includes('"channel":"trades"')) ||
      (of !== 'trades' && frame.includes('"channel":"l2Book"')),
    isTrades: (path) => path.includes('tradesByTime'),
    isMarkets: (path) => path.includes('outcomeMeta'),
    close: async () => {
      await proxy.close();
      await practice.close();
    },
  };
}
