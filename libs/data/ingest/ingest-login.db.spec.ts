import { expect, it, jest } from '@jest/globals';
import { PostgresStore } from '#libs/journal/stores/postgres-store.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import { clock } from '#libs/testing/data/ingest-world.js';
import { bustOf, marketEvent, tradeEvent } from '#libs/testing/data/streams.js';
import { createTestDatabase } from '#libs/testing/database/test-database.js';
import { eventually } from '#libs/testing/eventually.js';
import { AlarmTable } from '../store/alarm-table.js';
import { DataIngest } from './data-ingest.js';
import { DataRebuild } from './rebuild.js';
import { Snapshots } from './snapshots.js';
import type { SourceFeed, Quarantined, SourceBatch } from './source.js';

jest.setTimeout(60_000);

const trade = tradeEvent('venue_a', 'm');

const feed: SourceFeed = {
  source: 'recorded',
  of: 'venue_a',
  async *follow(cursor, stop): AsyncIterable<SourceBatch | Quarantined> {
    if (cursor === undefined) {
      yield { quarantined: 'half a body', body: '{' };
      yield { events: [marketEvent('venue_a', 'm'), trade, bustOf(trade)], cursor: '1', isCaughtUp: true };
    }
    while (!stop.aborted) await new Promise<void>((resolve) => clock.after(5, resolve));
  },
  async *backfill(): AsyncIterable<SourceBatch> {
    await Promise.resolve();
    yield { events: [], cursor: '', isCaughtUp: true };
  },
};

it('the login of ingest has all rights that ingest needs, before and after a rebuild', async () => {
  const database = await createTestDatabase(allMigrations);
  const password = 'of-ingest';
  await prepareDatabaseRoles(database.url, { ingest: password });
  const url = urlAs(database.url, 'ingest', password);
  const pool = openPool(url, { applicationName: 'ingest-0', max: 5 });
  const faults: string[] = [];
  const store = new PostgresStore({
    ...{ family: 'data', databaseUrl: url, pool, clock, shards: [0, 1, 2, 3, 4, 5, 6], instance: 'ingest-0' },
    ...{ seals: new RecordMacs('data', [Buffer.alloc(32, 1)]), tell: () => undefined },
  });
  const ingest = new DataIngest([feed], {
    ...{ pool, clock, journal: store.journalOf('ingest-0'), reader: store.reader },
    onFault: (what, error) => faults.push(`${what}: ${String(error)}`),
  });
  try {
    await ingest.start();
    await eventually(() => expect([ingest.isCaughtUp, faults]).toEqual([true, []]));
    await eventually(async () => expect(await new AlarmTable(pool).of('venue_a')).toHaveLength(1));
    const owner = { pool: database.pool, reader: store.reader, clock, say: () => undefined };
    const snapshots = new Snapshots({ pool, clock, onFault: () => undefined });
    await snapshots.take();
    expect(await new DataRebuild(owner).run()).toBe(3);
    await snapshots.take();
    const { rows: shown } = await pool.query('select market_id, to_snapshot from data.snapshot_markets');
    expect(shown).toEqual([{ market_id: 'm', to_snapshot: Number.MAX_SAFE_INTEGER }]);
    const { rows } = await pool.query('select is_busted from data.trades');
    expect(rows).toEqual([{ is_busted: true }]);
  } finally {
    await ingest.stop();
    await store.close();
    await pool.end();
    await database.drop();
  }
  expect(faults).toEqual([]);
});
