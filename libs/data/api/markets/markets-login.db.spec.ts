import { expect, it, jest } from '@jest/globals';
import { openPool, withTransaction } from '#libs/platform/database/postgres.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import { clock, IngestWorld } from '#libs/testing/data/ingest-world.js';
import { marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';
import { FlagTable } from '../../store/flag-table.js';
import { MarketReader } from '../../store/market-reader.js';
import { PriceReader } from '../../store/price-reader.js';
import { SnapshotReader } from '../../store/snapshot-reader.js';
import { SnapshotTable } from '../../store/snapshot-table.js';
import { VolumeReader } from '../../store/volume-reader.js';
import { SealedCursors } from '../cursors.js';
import { KnownFlags } from '../flags/known-flags.js';
import { ActivePages } from './active-pages.js';
import { MarketBatches } from './market-batches.js';
import { MarketMetadata } from './market-metadata.js';
import { MarketOutcomes } from './market-outcomes.js';

jest.setTimeout(60_000);

const PASSWORD = 'of-data';

it('the login of data-0 is enough for all routes of markets, and cannot make snapshots', async () => {
  const world = await IngestWorld.make(allMigrations);
  await prepareDatabaseRoles(world.database.url, { data: PASSWORD });
  const url = urlAs(world.database.url, 'data', PASSWORD);
  // Opened as the gateway opens it.
  const pool = openPool(url, { applicationName: 'data-0', max: 2, answerTimeoutMs: 5_000, looksUp: true });
  const faults: unknown[] = [];
  const table = new SnapshotTable();
  try {
    await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm'), tradeEvent('venue_a', 'm')]]);
    await withTransaction(world.database.pool, 'read committed', (client) =>
      table.renew(client, 'venue_a', START),
    );
    const ports = {
      ...{ markets: new MarketReader(pool), prices: new PriceReader(pool), volumes: new VolumeReader(pool) },
      live: { of: () => undefined },
    };
    const cursors = new SealedCursors('secret');
    const pages = new ActivePages(new SnapshotReader(pool, 60_000_000), cursors, (_what, error) =>
      faults.push(error),
    );
    const page = { route: '/markets/active', provider: 'venue_a', limit: 1, cursor: undefined } as const;
    expect((await pages.page(page, START)).markets).toHaveLength(1);
    const pair = { market_id: 'm-yes', provider_id: 2 };
    expect((await new MarketBatches(ports).details([pair])).body.markets).toHaveLength(1);
    expect((await new MarketBatches(ports).prices([pair], START)).body).toMatchObject({
      'm-yes': { price: 0.5 },
    });
    const flags = await new KnownFlags(new FlagTable(pool), clock).lastKnown();
    const contracts = [{ ticker: 'm', provider: 'venue_a' }];
    expect((await new MarketMetadata(ports).many({ contracts }, flags)).body).toMatchObject({
      m: { found: true },
    });
    const query = { market_id: 'm', provider: 'venue_a', include_closed: false } as const;
    expect((await new MarketOutcomes(ports).of(query, START)).body.outcomes).toMatchObject([
      ...[{ volume_24h: 0.5 }, { volume_24h: 0 }],
    ]);
    expect(faults).toEqual([]);
    await expect(
      withTransaction(pool, 'read committed', (client) => table.renew(client, 'venue_a', START)),
    ).rejects.toThrow('permission denied');
  } finally {
    await pool.end();
    await world.end();
  }
});
