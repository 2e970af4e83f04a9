import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { OrderReader } from '#libs/execution/projections/reader/order-reader.js';
import { alternating } from '../alternating.js';
import { BenchDatabase } from '../ground/bench-database.js';
import type { Ground } from '../ground/ground.js';
import { fillOrders } from '../ground/filled-orders.js';
import { noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';

const FEW_ROWS = 10_000;
const MANY_ROWS = 1_000_000;
const QUICK = { few: 500, many: 5_000 };
const USERS = 100;
const PAGE = 50;
const MILLIS_PER_SECOND = 1_000;

/**
 * Two pages of one user, of another user each time. The second page starts after the last order of the first.
 */
export const orderPage: Row = {
  name: 'order-page',
  title: 'A page of 50 orders out of 1,000,000 rows, compared with 10,000',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const few = await Pages.open(settings.quick ? QUICK.few : FEW_ROWS);
    settings.say('filling the large table');
    const many = await Pages.open(settings.quick ? QUICK.many : MANY_ROWS);
    const lane = (pages: Pages) => () => pages.millisOfOne(settings.seconds);
    const { medians, runs } = await alternating({ few: lane(few), many: lane(many) }, settings);
    await few.close();
    await many.close();
    const baseline = { name: 'the same out of 10,000 rows', measured: medians.few };
    return {
      checks: [noSlowerThan('a page', 'ms', medians.many, baseline, { minimum: 1.3, goal: 1.3 })],
      details: { runs },
    };
  },
};

/** A database of its own with this many orders. */
class Pages {
  private turn = 0;

  private constructor(
    private readonly database: BenchDatabase,
    private readonly pool: pg.Pool,
    private readonly users: readonly string[],
  ) {}

  static async open(rows: number): Promise<Pages> {
    const database = await BenchDatabase.start();
    const users = Array.from({ length: USERS }, () => randomUUID());
    await fillOrders(database.url, users, rows);
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    return new Pages(database, pool, users);
  }

  async millisOfOne(seconds: number): Promise<number> {
    const reader = new OrderReader(this.pool);
    // Reads each user once, so that the measured reads need no disk.
    for (const user of this.users) await twoPages(reader, user);
    const until = performance.now() + seconds * MILLIS_PER_SECOND;
    const begun = performance.now();
    let pages = 0;
    while (performance.now() < until) {
      this.turn += 1;
      pages += await twoPages(reader, this.users[this.turn % this.users.length] ?? '');
    }
    return (performance.now() - begun) / pages;
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.database.stop();
  }
}

async function twoPages(reader: OrderReader, user: string): Promise<number> {
  const first = await reader.list(user, { limit: PAGE, offset: 0 });
  if (first === 'no such order' || first.orders.length === 0) throw new Error('a user has no orders');
  if (first.next_before_id === undefined) return 1;
  await reader.list(user, { limit: PAGE, offset: 0, before_id: first.next_before_id });
  return 2;
}
