import type pg from 'pg';
import { encodeEvent } from '#libs/auction/rules/event-versions.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { Follower } from '#libs/projecting/following/follower.js';
import { auctionProjection } from '#libs/auction/projections/projection.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import { qualified, tablesOf } from '#libs/projecting/projection.js';
import { alternating } from '../alternating.js';
import { fillJournal } from '../ground/filled-journal.js';
import type { Ground } from '../ground/ground.js';
import { auctionHistory } from '../load/auction-history.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const SHARD = 2;
const AUCTIONS = 1_500;
const FEW = 10;
const LIKE = { quotes: 8, revisions: 2, isOver: true };
const BATCH = 100;
const POLL_MILLIS = 5;

/** A projector that catches up from the start, compared with plain inserts of the same events. */
export const projection: Row = {
  name: 'projection',
  title: 'Projector catching up',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const database = await ground.database();
    const count = settings.quick ? FEW : AUCTIONS;
    const last = await fillJournal(database.url, SHARD, { from: 0, count }, LIKE);
    const client = await database.connect();
    const events = historiesOf(count);
    const { medians, runs } = await alternating(
      { inserts: () => insertAll(client, events), projected: () => catchUp(database.url, client, last) },
      settings,
    );
    await client.end();
    const check = asFastAs(
      'events projected',
      'events/s',
      medians.projected,
      { name: 'raw INSERT of batches of 100 jsonb rows', measured: medians.inserts },
      { minimum: 0.25, goal: 0.5 },
    );
    return { checks: [check], details: { events: last, runs } };
  },
};

function historiesOf(count: number): string[] {
  return Array.from({ length: count }, (_, number) => auctionHistory({ ...LIKE, number, shard: SHARD }))
    .flat()
    .map(encodeEvent);
}

/** Rows per second. */
async function insertAll(client: pg.Client, events: readonly string[]): Promise<number> {
  await client.query('drop table if exists bench_json');
  await client.query(
    'create table bench_json (id bigint generated always as identity primary key, event jsonb)',
  );
  const begun = performance.now();
  for (let from = 0; from < events.length; from += BATCH) {
    const rows = events.slice(from, from + BATCH);
    await client.query({
      name: `bench-json-${rows.length}`,
      text: `insert into bench_json (event) values ${rows.map((_, index) => `($${index + 1})`).join(', ')}`,
      values: rows,
    });
  }
  return (events.length * 1_000) / (performance.now() - begun);
}

/** Events per second of a projector that starts from nothing, until the last position. */
async function catchUp(url: string, client: pg.Client, last: number): Promise<number> {
  await client.query(
    `truncate ${tablesOf(auctionProjection)
      .map((table) => qualified(table))
      .join(', ')}`,
  );
  const pool = openPool(url, { applicationName: 'bench-projector', max: 4 });
  const clock = new SystemClock();
  const reader: JournalReader = new PostgresJournalReader(pool, 'auction');
  const faults: unknown[] = [];
  const follower = new Follower({
    pool,
    reader,
    projector: new Projector(auctionProjection, { inTransaction: transactionsOf(pool), clock }),
    clock,
    shards: [SHARD],
    onFault: (_, error) => faults.push(error),
  });
  const begun = performance.now();
  follower.start();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS));
    if (faults.length > 0) throw faults[0];
    if (follower.shards.has(SHARD) && (await positionOf(client)) >= last) break;
  }
  const perSecond = (last * 1_000) / (performance.now() - begun);
  await follower.stop();
  await pool.end();
  return perSecond;
}

async function positionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ sequence: string }>(
    'select sequence from auction_history.projection_offsets where shard = $1',
    [SHARD],
  );
  return Number(rows[0]?.sequence ?? 0);
}
