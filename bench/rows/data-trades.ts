import { instrumentOf, numbersOf } from '#libs/data/store/instruments.js';
import { TradeReader } from '#libs/data/store/trade-reader.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { randomOf } from '#libs/testing/data/streams.js';
import { alternating } from '../alternating.js';
import { BenchDatabase } from '../ground/bench-database.js';
import type { Ground } from '../ground/ground.js';
import { fillTrades } from '../ground/long-series.js';
import { millisOfOne } from '../load/one-caller.js';
import { noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';

const INSTRUMENTS = 4_000;
const DAYS = 400;
const DAY = 86_400_000_000;
const FROM = Date.UTC(2025, 9, 1) * 1_000;
const END = FROM + DAYS * DAY;
const PAGE = 100;
const QUICK = 20_000;
const LARGER = 10;

/** The first page of a history, of another outcome each time, over 400 days and 4,000 outcomes. */
export const dataTrades: Row = {
  name: 'data-trades',
  title: 'The latest 100 trades of an outcome out of --trades rows, compared with a tenth of them',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const rows = settings.quick ? QUICK : settings.trades;
    const few = await Store.open(rows / LARGER);
    settings.say(`filling ${rows} rows`);
    const many = await Store.open(rows);
    const lane = (store: Store) => () => millisOfOne(settings.seconds, () => store.page());
    const { medians, runs } = await alternating({ few: lane(few), many: lane(many) }, settings);
    await few.close();
    await many.close();
    const check = noSlowerThan(
      `100 of ${rows} trades`,
      'ms',
      medians.many,
      { name: `100 of ${rows / LARGER}`, measured: medians.few },
      { minimum: 2, goal: 1.3 },
    );
    return { checks: [check], details: { rows, runs } };
  },
};

class Store {
  private readonly random = randomOf(3);
  private readonly reader: TradeReader;

  private constructor(
    private readonly database: BenchDatabase,
    private readonly pool: ReturnType<typeof openPool>,
  ) {
    this.reader = new TradeReader(pool);
  }

  static async open(trades: number): Promise<Store> {
    const database = await BenchDatabase.start();
    const pool = openPool(database.url, { applicationName: 'bench-trades', max: 1 });
    const instruments = Array.from({ length: INSTRUMENTS }, (_, number) => instrumentNumbered(number));
    await fillTrades(pool, { instruments, trades, from: FROM, days: DAYS });
    await pool.query('vacuum analyze data.trades');
    return new Store(database, pool);
  }

  async page(): Promise<void> {
    const instrument = instrumentNumbered(this.random(INSTRUMENTS));
    await this.reader.page([instrument], { start: FROM, end: END }, PAGE);
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.database.stop();
  }
}

function instrumentNumbered(number: number): number {
  return instrumentOf(numbersOf('venue_a')[0] + 1 + number, 0);
}
