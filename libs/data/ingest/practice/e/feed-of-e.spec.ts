import { randomBytes } from 'node:crypto';
import { describeVenueFeed, type VenueFeedSubject } from '#libs/testing/contracts/venue-feed.contract.js';
import { MeddlingProxy } from '#libs/testing/network/meddling-proxy.js';
import { openPracticeE, type EClient } from '#libs/testing/practice-e.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { practiceFeeds } from '../practice-feeds.js';

const clock = new SystemClock();
const FIRST_ASSET = 100_000_000;

async function subjectOfE(): Promise<VenueFeedSubject> {
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
      const [feed] = practiceFeeds({ clock, venueEUrl: proxy.url, timeoutMillis: 500 });
      if (feed === undefined) throw new Error('there is no feed');
      return feed;
    },
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
    isNews: (frame) => /"channel":"(trades|l2Book)"/.test(frame),
    isTrades: (path) => path.includes('tradesByTime'),
    close: async () => {
      await proxy.close();
      await practice.close();
    },
  };
}

describeVenueFeed('the feed of practice venue e', subjectOfE);
