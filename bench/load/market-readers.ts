import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { CandleReader } from '#libs/data/store/candle-reader.js';
import { instrumentOf } from '#libs/data/store/instruments.js';
import { TradeReader } from '#libs/data/store/trade-reader.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { randomOf } from '#libs/testing/data/streams.js';
import type { StreamOf } from './market-stream.js';

interface ReadersOf {
  readonly url: string;
  readonly readers: number;
  /** The number of the first market. */
  readonly firstMarketNo: number;
  readonly stream: StreamOf;
}

const MILLIS_PER_SECOND = 1_000;
const TRADES = 100;
const HOUR = 3_600_000_000;
const WEEK = 168 * HOUR;

/** Readers in a thread of their own, until they are stopped. */
export class MarketReaders {
  private constructor(private readonly worker: Worker) {}

  static async start(options: ReadersOf): Promise<MarketReaders> {
    const worker = new Worker(new URL(import.meta.url), { workerData: options });
    await once(worker, 'message');
    return new MarketReaders(worker);
  }

  /** Reads per second since the last call. */
  async rate(): Promise<number> {
    this.worker.postMessage('rate');
    const [rate] = (await once(this.worker, 'message')) as [number];
    return rate;
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

/** Reads the latest trades of an outcome and its hour candles of a week, in turn. */
async function readInLoop({ url, readers, firstMarketNo, stream }: ReadersOf): Promise<void> {
  const pool = openPool(url, { applicationName: 'bench-readers', max: readers });
  const [trades, candles] = [new TradeReader(pool), new CandleReader(pool)];
  const random = randomOf(7);
  let [done, since] = [0, performance.now()];
  parentPort?.on('message', () => {
    const now = performance.now();
    parentPort?.postMessage((done * MILLIS_PER_SECOND) / (now - since));
    [done, since] = [0, now];
  });
  parentPort?.postMessage('ready');
  const end = stream.from + stream.trades * stream.every;
  await Promise.all(
    Array.from({ length: readers }, async () => {
      for (;;) {
        const marketNo = firstMarketNo + random(stream.markets);
        const outcomeIndex = random(2);
        await trades.page([instrumentOf(marketNo, outcomeIndex)], { start: end - WEEK, end }, TRADES);
        const series = { provider: stream.provider, marketNo, outcomeIndex, timeframe: 3_600 } as const;
        await candles.read(series, { start: end - WEEK, end });
        done += 2;
      }
    }),
  );
}

if (parentPort !== null) await readInLoop(workerData as ReadersOf);
