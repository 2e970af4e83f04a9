import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { slowCandles, slowTrades } from '#libs/testing/data/slow-fold.js';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { JournaledMarketData } from '../../rules/event-codec.js';
import type { MarketDataEvent } from '../../rules/events.js';
import { PROVIDERS, type Provider, REGISTERED } from '../../rules/providers.js';
import { FreshnessTable } from '../../store/freshness-table.js';
import { DataIngest } from '../data-ingest.js';
import { readSeedCursor, storedSeedCursor } from './seed-cursor.js';
import { openSeed } from './seed.js';
import { SeedWorld } from './world.js';

jest.setTimeout(180_000);

const clock = new MovableClock();
let world: IngestWorld;
let running: DataIngest | undefined;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(async () => {
  clock.forgetTimers();
  await world.end();
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await world.empty();
});

async function start(scale: number, endAtStart: readonly Provider[] = []): Promise<DataIngest> {
  const { pool } = world.database;
  const { feeds } = openSeed({
    ...{ seed: 'sotto', clock, scale, endAtStart: new Set(endAtStart) },
    stored: () => storedSeedCursor(pool),
  });
  const ingest = new DataIngest(feeds, {
    ...{ pool, clock, journal: world.journal, reader: world.reader },
    onFault: (what, error) => world.faults.push(`${what}: ${String(error)}`),
  });
  await ingest.start();
  running = ingest;
  return ingest;
}

async function countOf(sql: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await world.database.pool.query<{ count: string }>(`select count(*) from ${sql}`, [
    ...values,
  ]);
  return Number(rows[0]?.count);
}

/** The events of a provider as generated, up to where its feed is. */
async function generatedEvents(provider: Provider, scale: number): Promise<JournaledMarketData[]> {
  const { rows } = await world.database.pool.query<{ cursor: string }>(
    `select cursor from data.cursors where source = 'seed' and shard = $1`,
    [PROVIDERS.indexOf(provider)],
  );
  const { start: begun, told: sentUntil } = readSeedCursor(rows[0]?.cursor ?? '');
  const made = new SeedWorld({
    seed: 'sotto',
    start: begun,
    scale,
    endAtStart: new Set(['venue_b', 'venue_e']),
  });
  return made
    .events(provider, { from: made.opens, until: sentUntil })
    .filter((event) => event.type !== 'BOOK');
}

const idsOf = (events: readonly MarketDataEvent[], type: MarketDataEvent['type']): Set<string> =>
  new Set(events.flatMap((event) => (event.type === type && 'market_id' in event ? [event.market_id] : [])));

it('all events become the right rows, at the start, live and after a restart', async () => {
  const scale = 0.2;
  const ingest = await start(scale, ['venue_b', 'venue_e']);
  await eventually(() => expect(ingest.isCaughtUp).toBe(true), 60_000);
  clock.leap(90_000);
  await eventually(async () => {
    const newest = (await new FreshnessTable(world.database.pool).all()).get('venue_a');
    expect(Number(clock.epochNanos() / 1_000n) - (newest?.asOf ?? 0)).toBeLessThan(5_000_000);
  }, 30_000);
  await ingest.stop();
  clock.leap(600_000);
  const again = await start(scale, ['venue_b', 'venue_e']);
  await eventually(() => expect(again.isCaughtUp).toBe(true), 60_000);
  await again.stop();
  running = undefined;
  // On a busy machine a provider may wait too long for a connection; it is then followed again.
  expect(world.faults.filter((fault) => !String(fault).includes('when trying to connect'))).toEqual([]);
  expect(world.refused).toEqual([]);
  await expectRows(scale);
});

async function expectRows(scale: number): Promise<void> {
  const generated = new Map<Provider, JournaledMarketData[]>();
  for (const provider of REGISTERED) generated.set(provider, await generatedEvents(provider, scale));
  const all = [...generated.values()].flat();
  const trades = all.filter(({ type }) => type === 'TRADE');
  expect(await countOf('data.trades')).toBe(trades.length);
  const busts = all.filter(({ type }) => type === 'TRADE_BUST').length;
  expect(await countOf('data.busts')).toBe(busts);
  const busted = all.flatMap((event) => (event.type === 'TRADE_BUST' ? [event.trade_source_id] : []));
  const known = new Set(trades.map(({ source_id }) => source_id));
  expect(await countOf('data.trades where is_busted')).toBe(busted.filter((id) => known.has(id)).length);
  for (const [provider, events] of generated) {
    const shard = PROVIDERS.indexOf(provider);
    expect(await countOf('data.markets where provider = $1', [shard])).toBe(idsOf(events, 'MARKET').size);
    expect(
      await countOf('data.resolutions join data.markets m using (market_no) where m.provider = $1', [shard]),
    ).toBe(idsOf(events, 'RESOLUTION').size);
  }
  expect(await world.storedTrades()).toEqual([...generated.values()].flatMap(slowTrades).sort());
  const candles = [...generated].flatMap(([provider, events]) => slowCandles(provider, events));
  expect((await world.storedCandles()).length).toBe(candles.length);
  expect(await countOf('data.waiting')).toBe(0);
  expect(await countOf('data.books')).toBeGreaterThan(200);
}

it('a first start of full size is ingested', async () => {
  const ingest = await start(1, ['venue_b', 'venue_e']);
  await eventually(() => expect(ingest.isCaughtUp).toBe(true), 120_000);
  expect(await countOf('data.trades')).toBeGreaterThan(8_000);
  expect(await countOf('data.ticks')).toBe(15);
  expect(world.refused).toEqual([]);
});
