import { randomUUID } from 'node:crypto';
import type { CreateOrderV2Request } from 'kalshi-typescript';
import { describeVenueFeed, type VenueFeedSubject } from '#libs/testing/contracts/venue-feed.contract.js';
import { MeddlingProxy } from '#libs/testing/network/meddling-proxy.js';
import { openPracticeB } from '#libs/testing/practice-b.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { practiceFeeds } from '../practice-feeds.js';

const clock = new SystemClock();

async function subjectOfB(): Promise<VenueFeedSubject> {
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
        ...{ clock, venueBUrl: `${proxy.url}/trade-api/v2`, timeoutMillis: 500 },
        venueBAccountsUrl: `http://127.0.0.1:${practice.admin.port}`,
      });
      if (feed === undefined) throw new Error('there is no feed');
      return feed;
    },
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
    isNews: (frame) => /"type":"(trade|orderbook_delta)"/.test(frame),
    isTrades: (path) => path.includes('/markets/trades'),
    close: async () => {
      await proxy.close();
      await practice.close();
    },
  };
}

describeVenueFeed('the feed of practice venue b', subjectOfB);
