import { instrumentOf, numbersOf } from '#libs/data/store/instruments.js';
import { isoTime } from '#libs/data/rules/times.js';
import { alternating } from '../alternating.js';
import { BenchDatabase } from '../ground/bench-database.js';
import type { Ground } from '../ground/ground.js';
import { fillCandles, fillTrades } from '../ground/long-series.js';
import { MarketDataStore } from '../ground/market-data-store.js';
import { SideProcess } from '../ground/side-process.js';
import { closedLoop } from '../load/closed-loop.js';
import { HttpConnection } from '../load/http-connection.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const CONNECTIONS = 16;
const PROVIDER = 'venue_a';
const DAY = 86_400_000_000;
const DAYS = 10;
const TRADES = 50_000;
const NEWER = 2;
const CALLER = { 'x-test-caller': 'session' };

/**
 * A day of closed hour candles, as charts request them, compared with a hello-world route of the same
 * listener.
 */
export const dataGet: Row = {
  name: 'data-get',
  title: 'GET of stored candles, compared with a hello world of the same listener, 16 connections',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const database = await BenchDatabase.start();
    const today = Math.floor((Date.now() * 1_000) / DAY) * DAY;
    const from = today - DAYS * DAY;
    const stream = { provider: PROVIDER, markets: 1, trades: 0, from, every: 1 } as const;
    const store = await MarketDataStore.open(database, stream);
    await store.begin();
    const instruments = [instrumentOf(numbersOf(PROVIDER)[0] + 1, 0)];
    await fillTrades(store.pool, { instruments, trades: TRADES, from, days: DAYS });
    await fillCandles(store.pool);
    const hello = await SideProcess.start('data-listener', []);
    const candles = await SideProcess.start('data-listener', [database.url]);
    const [start, end] = [today - NEWER * DAY, today - DAY].map(isoTime);
    const path = `/candles?provider=${PROVIDER}&contract_id=market-0&timeframe_seconds=3600&start=${start}&end=${end}`;
    const measure = (url: string, asked: string): (() => Promise<number>) => {
      const connections = Array.from({ length: CONNECTIONS }, () => new HttpConnection(url));
      return () =>
        closedLoop(CONNECTIONS, settings.seconds, async (caller) => {
          const answer = await connections[caller]?.send({ method: 'GET', path: asked, headers: CALLER });
          if (answer?.status !== 200) throw new Error(`answered ${answer?.status} ${answer?.body ?? ''}`);
        });
    };
    const { body } = await new HttpConnection(candles.url).send({ method: 'GET', path, headers: CALLER });
    const { medians, runs } = await alternating(
      { hello: measure(hello.url, '/hello'), candles: measure(candles.url, path) },
      settings,
    );
    await candles.stop();
    await hello.stop();
    await store.close();
    await database.stop();
    const check = asFastAs(
      'a day of kept hour candles',
      '/s',
      medians.candles,
      { name: 'hello world of the same listener', measured: medians.hello },
      { minimum: 0.2, goal: 0.6 },
    );
    return { checks: [check], details: { bytes: body.length, runs } };
  },
};
