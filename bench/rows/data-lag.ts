import { setTimeout as sleep } from 'node:timers/promises';
import { DataIngest } from '#libs/data/ingest/data-ingest.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { marketEvent, randomOf, tradeEvent } from '#libs/testing/data/streams.js';
import { BenchDatabase } from '../ground/bench-database.js';
import type { Ground } from '../ground/ground.js';
import { SideProcess } from '../ground/side-process.js';
import { HttpConnection } from '../load/http-connection.js';
import { latenciesOf } from '../load/open-loop.js';
import { ToldFeed } from '../load/told-feed.js';
import { atMost, type RowOutcome, type Row, type Settings } from '../row.js';

const PROVIDER = 'venue_a';
const MARKET = 'market-0';
const TRADES = 200;
const QUICK = 10;
const POLL_MILLIS = 2;
const WITHIN_MILLIS = 10_000;
const MAX_PAUSE = 80;
const PATH = `/trades/history?provider=${PROVIDER}&contract_id=${MARKET}&limit=1`;
const CALLER = { 'x-test-caller': 'session' };

/** The time from a trade at the source until a reader gets it, through journal and projector. */
export const dataLag: Row = {
  name: 'data-lag',
  title: 'A trade at the source until /trades/history has it, one at a time',
  async run(_: Ground, settings: Settings): Promise<RowOutcome> {
    const database = await BenchDatabase.start();
    const { url } = database;
    const pool = openPool(url, { applicationName: 'bench-ingest', max: 16 });
    const clock = new SystemClock();
    const feed = new ToldFeed(PROVIDER);
    const faults: unknown[] = [];
    const ingest = new DataIngest([feed], {
      ...{ pool, clock, reader: new PostgresJournalReader(pool, 'data') },
      journal: new PostgresJournal({ family: 'data', url, clock, opener: 'bench' }),
      onFault: (_what, error) => faults.push(error),
    });
    await ingest.start();
    feed.tell(marketEvent(PROVIDER, MARKET, Date.now() * 1_000));
    const listener = await SideProcess.start('data-listener', [url]);
    const connection = new HttpConnection(listener.url);
    const random = randomOf(5);
    const taken: number[] = [];
    for (let number = 0; number <= (settings.quick ? QUICK : TRADES * settings.runs); number += 1) {
      const begun = performance.now();
      const id = `trade-${number}`;
      feed.tell(tradeEvent(PROVIDER, MARKET, { source_id: id, source_ts: Date.now() * 1_000 }));
      await untilServed(connection, id);
      // The first trade includes one-time work.
      if (number > 0) taken.push(performance.now() - begun);
      await sleep(random(MAX_PAUSE));
    }
    await ingest.stop();
    await listener.stop();
    await pool.end();
    await database.stop();
    if (faults.length > 0) throw faults[0];
    const { p50, p99, max } = latenciesOf(taken);
    return {
      checks: [
        atMost('source to reader, p50', 'ms', p50, { minimum: 200, goal: 100 }),
        atMost('source to reader, p99', 'ms', p99, { minimum: 1_000, goal: 500 }),
      ],
      details: { trades: taken.length, max },
    };
  },
};

async function untilServed(connection: HttpConnection, id: string): Promise<void> {
  const until = performance.now() + WITHIN_MILLIS;
  while (performance.now() < until) {
    const { status, body } = await connection.send({ method: 'GET', path: PATH, headers: CALLER });
    if (status !== 200) throw new Error(`answered ${status} ${body}`);
    if (body.includes(`"${id}"`)) return;
    await sleep(POLL_MILLIS);
  }
  throw new Error(`${id} is in no history`);
}
