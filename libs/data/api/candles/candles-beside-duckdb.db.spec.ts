import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { JournaledMarketData } from '../../rules/event-codec.js';
import { PROVIDER_FACTS, type Provider } from '../../rules/providers.js';
import { isoTime } from '../../rules/times.js';
import { madeSeq } from '../../store/trade-table.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { SeriesListener } from '#libs/testing/data/series-listener.js';
import { delivered, randomOf, randomStream, START } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

const HOUR = 3_600_000_000;
const NOW = START + 20 * HOUR;

let world: IngestWorld;
let listener: SeriesListener;
let duck: DuckDBConnection;

beforeAll(async () => {
  world = await IngestWorld.make();
  listener = await SeriesListener.open(world.database.pool, { epochNanos: () => BigInt(NOW) * 1_000n });
  duck = await (await DuckDBInstance.create(':memory:')).connect();
});
afterAll(async () => {
  duck.closeSync();
  await listener.close();
  await world.end();
});

/** A second database with every event as it was sent, once for each delivery. */
async function tellDuck(batches: readonly (readonly JournaledMarketData[])[]): Promise<void> {
  await duck.run(`
    create or replace table trades (market text, id text, outcome integer, ts bigint, seq ubigint, price integer, size bigint);
    create or replace table busts (id text)`);
  for (const event of batches.flat()) {
    if (event.type === 'TRADE_BUST') await duck.run('insert into busts values ($1)', [event.trade_source_id]);
    if (event.type !== 'TRADE') continue;
    const { market_id, source_id, outcome_index, source_ts, seq = madeSeq(source_id), price, size } = event;
    await duck.run('insert into trades values ($1, $2, $3, $4::bigint, $5::ubigint, $6, $7::bigint)', [
      ...[market_id, source_id, outcome_index, String(source_ts), String(seq)],
      ...[price, String(size)],
    ]);
  }
}

async function barsOfDuck(
  provider: Provider,
  market: string,
  outcome: number,
  timeframe: number,
): Promise<readonly object[]> {
  const span = timeframe * 1_000_000;
  const { isSingleBook } = PROVIDER_FACTS[provider];
  const reader = await duck.runAndReadAll(`
    select ts // ${span} * ${span} as bucket,
      arg_min(cents, place) as open, max(cents) as high, min(cents) as low, arg_max(cents, place) as close,
      sum(size) // 1000000 as volume
    from (
      select *, (ts, seq, id) as place, (case when outcome = ${outcome} then price else 1000000 - price end) / 10000 as cents
      from (select distinct * from trades)
      where market = '${market}' and ${isSingleBook ? 'true' : `outcome = ${outcome}`} and id not in (from busts)
    ) group by 1 order by 1`);
  return reader.getRowObjects().map(({ bucket, volume, ...prices }) => ({
    ...prices,
    ...{ bucket_start: isoTime(Number(bucket)), volume: Number(volume) },
  }));
}

it.each([
  ['venue_a', 31],
  ['venue_b', 32],
] as const)('candles of %s are those that DuckDB makes of its trades (seed %i)', async (provider, seed) => {
  const batches = delivered(randomStream(provider, seed, 600), randomOf(seed));
  await world.ingestAll(provider, batches);
  await tellDuck(batches);
  for (const timeframe of [1, 60, 300, 900, 3_600, 14_400, 86_400]) {
    for (const market of ['alpha', 'beta', 'gamma']) {
      for (const outcome of [0, 1]) {
        const reply = await listener.get('/candles', {
          ...{ provider, contract_id: market, outcome, timeframe_seconds: timeframe },
          ...{ start: isoTime(START - HOUR), end: isoTime(NOW), rebuild: timeframe === 300 },
        });
        const { candles } = reply.body as { readonly candles: readonly object[] };
        const expected = await barsOfDuck(provider, market, outcome, timeframe);
        expect(expected.length).toBeGreaterThan(0);
        expect(candles).toHaveLength(expected.length);
        expect(candles).toMatchObject(expected);
      }
    }
  }
  expect([listener.faults, listener.apart]).toEqual([[], []]);
});
