import { expect, it, jest } from '@jest/globals';
import { openPool } from '#libs/platform/database/postgres.js';
import { allMigrations } from '#libs/schema/all-migrations.js';
import { prepareDatabaseRoles, urlAs } from '#libs/schema/roles/database-roles.js';
import { isoTime } from '../rules/times.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { marketEvent, START, tradeEvent } from '#libs/testing/data/streams.js';

jest.setTimeout(60_000);

const PASSWORD = 'of-data';

it('the login of data-0 can read candles and trades, and raise alarms about candles that differ', async () => {
  const world = await IngestWorld.make(allMigrations);
  await prepareDatabaseRoles(world.database.url, { data: PASSWORD });
  const url = urlAs(world.database.url, 'data', PASSWORD);
  // Opened as the gateway opens it.
  const pool = openPool(url, { applicationName: 'data-0', max: 2, answerTimeoutMs: 5_000, looksUp: true });
  const clock = { epochNanos: () => BigInt(START + 3_600_000_000) * 1_000n };
  const listener = await SeriesListener.open(pool, clock, { retentionDays: 30 });
  try {
    await world.ingestAll('venue_a', [[marketEvent('venue_a', 'm'), tradeEvent('venue_a', 'm')]]);
    const of = { provider: 'venue_a', contract_id: 'm' };
    const window = { ...of, start: isoTime(START), end: isoTime(START + 1) };
    for (const timeframe_seconds of [1, 60, 300, 14_400]) {
      for (const rebuild of [false, false, true]) {
        const { status, body } = await listener.get('/candles', { ...window, timeframe_seconds, rebuild });
        expect([status, body]).toMatchObject([200, { candles: [{ volume: 1 }] }]);
      }
    }
    expect(await listener.get('/trades/history', of)).toMatchObject({ status: 200, body: { count: 1 } });
    expect(await listener.get('/trades/metrics', of)).toMatchObject({
      status: 200,
      body: { trade_count: 1 },
    });
    await world.database.pool.query('update data.candles set high = 990000');
    await listener.get('/candles', { ...window, timeframe_seconds: 60, rebuild: true });
    expect([listener.faults, listener.apart]).toEqual([
      [],
      [expect.stringContaining('rebuilt candle apart')],
    ]);
    const { rows } = await pool.query('select kind from data.alarms');
    expect(rows).toEqual([{ kind: 'candle_apart' }]);
  } finally {
    await listener.close();
    await pool.end();
    await world.end();
  }
});
