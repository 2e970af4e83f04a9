import { setTimeout as sleep } from 'node:timers/promises';
import { numbersOf } from '#libs/data/store/instruments.js';
import { alternating } from '../alternating.js';
import { insertOneByOne } from '../baselines/single-trades.js';
import type { Ground } from '../ground/ground.js';
import { MarketDataStore } from '../ground/market-data-store.js';
import { MarketReaders } from '../load/market-readers.js';
import { type StreamOf, tradesOf } from '../load/market-stream.js';
import { asFastAs, forComparison, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';

const STREAM: StreamOf = {
  ...{ provider: 'venue_a', markets: 2_000, trades: 60_000 },
  ...{ from: Date.UTC(2026, 9, 10) * 1_000, every: 40_000 },
};
const QUICK = { markets: 50, trades: 2_000 };
const BATCH = 1_000;
/** The batch size of the product. */
const OWN_BATCH = 5_000;
const READERS = 4;
const MILLIS_PER_SECOND = 1_000;

/** From the journal to trades and all their candles, compared with single inserts of trades only. */
export const dataIngest: Row = {
  name: 'data-ingest',
  title: 'Projected trades in batches of 1,000, alone and with four readers',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const stream = settings.quick ? { ...STREAM, ...QUICK } : STREAM;
    const database = await ground.database();
    const store = await MarketDataStore.open(database, stream);
    const client = await database.connect();
    const readersOf = {
      ...{ url: database.url, readers: READERS, stream },
      firstMarketNo: numbersOf(stream.provider)[0] + 1,
    };
    const [idle, busy]: [number[], number[]] = [[], []];
    const readWhileProjecting = async (): Promise<number> => {
      await store.begin();
      const readers = await MarketReaders.start(readersOf);
      await sleep(settings.seconds * MILLIS_PER_SECOND);
      idle.push(await readers.rate());
      const rate = await store.project(BATCH);
      busy.push(await readers.rate());
      await readers.stop();
      return rate;
    };
    const { medians, runs } = await alternating(
      {
        single: async () => {
          await store.empty();
          await client.query(`select data.make_months('data', $1)`, [[stream.from]]);
          return insertOneByOne(client, tradesOf(stream), settings.seconds);
        },
        projected: async () => {
          await store.begin();
          return store.project(BATCH);
        },
        larger: async () => {
          await store.begin();
          return store.project(OWN_BATCH);
        },
        beside: readWhileProjecting,
      },
      settings,
    );
    await client.end();
    await store.close();
    const [idleReads, busyReads] = [median(idle), median(busy)];
    const checks = [
      asFastAs(
        'trades projected, batches of 1,000',
        'trades/s',
        medians.projected,
        { name: 'single-row commits of trades', measured: medians.single },
        { minimum: 5, goal: 10 },
      ),
      forComparison('trades projected, batches of 5,000', 'trades/s', medians.larger, {
        name: 'single-row commits of trades',
        measured: medians.single,
      }),
      asFastAs(
        'batches of 1,000 beside four readers',
        'trades/s',
        medians.beside,
        { name: 'alone', measured: medians.projected },
        { minimum: 0.5, goal: 0.75 },
      ),
      asFastAs(
        'reads while trades are projected',
        'reads/s',
        busyReads,
        { name: 'while nothing is', measured: idleReads },
        { minimum: 0.5, goal: 0.8 },
      ),
    ];
    return { checks, details: { trades: stream.trades, runs, reads: { idle, busy } } };
  },
};
