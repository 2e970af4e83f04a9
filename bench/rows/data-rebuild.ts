import { DataRebuild } from '#libs/data/ingest/rebuild.js';
import { alternating } from '../alternating.js';
import { TradesCopy } from '../baselines/trades-copy.js';
import { BenchDatabase } from '../ground/bench-database.js';
import type { Ground } from '../ground/ground.js';
import { MarketDataStore } from '../ground/market-data-store.js';
import type { StreamOf } from '../load/market-stream.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const STREAM: StreamOf = {
  ...{ provider: 'venue_a', markets: 2_000, trades: 100_000 },
  ...{ from: Date.UTC(2026, 9, 10) * 1_000, every: 20_000 },
};
const QUICK = { markets: 50, trades: 2_000 };
const MILLIS_PER_SECOND = 1_000;

/** All tables from the journal, compared with the trades alone from a COPY. */
export const dataRebuild: Row = {
  name: 'data-rebuild',
  title: 'Rebuild of market data from its journal, compared with COPY of the same trades',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const stream = settings.quick ? { ...STREAM, ...QUICK } : STREAM;
    const database = await BenchDatabase.start();
    const store = await MarketDataStore.open(database, stream);
    const { pool, clock, reader } = store;
    const perSecond = async (work: () => Promise<unknown>): Promise<number> => {
      const begun = performance.now();
      await work();
      return (stream.trades * MILLIS_PER_SECOND) / (performance.now() - begun);
    };
    const rebuild = new DataRebuild({ pool, reader, clock, say: () => undefined });
    await rebuild.run();
    const copy = await TradesCopy.of(await database.connect());
    const { medians, runs } = await alternating(
      {
        copied: async () => {
          await store.empty();
          return perSecond(() => copy.copyIn());
        },
        rebuilt: () => perSecond(() => rebuild.run()),
      },
      settings,
    );
    await copy.close();
    await store.close();
    await database.stop();
    const check = asFastAs(
      'trades of a rebuild',
      'trades/s',
      medians.rebuilt,
      { name: 'COPY into the same table and its indexes', measured: medians.copied },
      { minimum: 0.1, goal: 0.5 },
    );
    return { checks: [check], details: { trades: stream.trades, runs } };
  },
};
