import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import type { VenueFeedSubject } from '#libs/testing/contracts/venue-feed.contract.js';
import { clock, IngestWorld } from '#libs/testing/data/ingest-world.js';
import { subjectOfB, subjectOfE } from '#libs/testing/data/venue-feed-subjects.js';
import { eventually } from '#libs/testing/eventually.js';
import type { Provider } from '../../rules/providers.js';
import { FreshnessTable, type IngestProgress } from '../../store/freshness-table.js';
import { DataIngest } from '../data-ingest.js';

jest.setTimeout(120_000);

let world: IngestWorld;
let b: VenueFeedSubject;
let e: VenueFeedSubject;
let running: DataIngest | undefined;

beforeAll(async () => {
  world = await IngestWorld.make();
  [b, e] = [await subjectOfB(), await subjectOfE()];
});
afterAll(async () => {
  await b.close();
  await e.close();
  await world.end();
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  for (const { proxy } of [b, e]) proxy.meddle({});
  await world.empty();
});

async function start(): Promise<void> {
  const { pool } = world.database;
  running = new DataIngest([b.feed(), e.feed()], {
    ...{ pool, clock, journal: world.journal, reader: world.reader },
    onFault: (what, error) => world.faults.push(`${what}: ${String(error)}`),
  });
  await running.start();
}

/** Checks that each trade of the venue is in the table once with its size, and that all sizes are in the candles. */
async function expectAll({ open: { venue } }: VenueFeedSubject): Promise<void> {
  const theirs = venue.reads.tradesOfAll();
  const sum = theirs.reduce((total, { size }) => total + BigInt(size), 0n).toString();
  const ids = new Set(theirs.map(({ market_id }) => market_id));
  await eventually(async () => {
    const { rows } = await world.database.pool.query<{ trades: number; size: string; candles: string }>(
      `select count(*)::int as trades, coalesce(sum(size), 0)::text as size,
         (select coalesce(sum(volume), 0)::text from data.candles
           join data.markets m on m.market_no = instrument / 64
           where timeframe = 60 and market_id = any ($1)) as candles
       from data.trades join data.markets on market_no = instrument / 64 where market_id = any ($1)`,
      [[...ids]],
    );
    expect(rows).toEqual([{ trades: theirs.length, size: sum, candles: sum }]);
  }, 30_000);
}

async function progressOf(provider: Provider): Promise<IngestProgress> {
  const progress = (await new FreshnessTable(world.database.pool).all()).get(provider);
  if (progress === undefined) throw new Error('no progress is stored');
  return progress;
}

function now(): number {
  return Number(clock.epochNanos() / 1_000n);
}

it('trades during downtime of ingest or its connections count once', async () => {
  const markets = new Map<VenueFeedSubject, string>();
  for (const venue of [b, e]) {
    const market = await venue.market();
    markets.set(venue, market);
    await venue.trade(market, 3);
  }
  await start();
  for (const [venue, market] of markets) {
    await expectAll(venue);
    await venue.trade(market, 5);
    venue.proxy.cut();
    await venue.trade(market, 7);
    await expectAll(venue);
  }
  await running?.stop();
  for (const [venue, market] of markets) await venue.trade(market, 11);
  await start();
  for (const venue of markets.keys()) await expectAll(venue);
  expect(await progressOf('venue_b')).toMatchObject({ conflicts: 0, quarantined: 0, reachesFrom: 0 });
  expect(await progressOf('venue_e')).toMatchObject({ conflicts: 0, quarantined: 0, reachesFrom: 0 });
});

it('a venue that changes its format is quarantined and goes stale, while the other goes on', async () => {
  const [one, other] = [await b.market(), await e.market()];
  await start();
  await eventually(() => expect(running?.isCaughtUp).toBe(true));
  await expectAll(b);
  b.proxy.meddle({ body: (body) => b.renamed(body), frame: () => [] });
  await b.trade(one, 2);
  await e.trade(other, 2);
  await expectAll(e);
  await eventually(async () => {
    expect(await progressOf('venue_b')).toMatchObject({ isQuarantined: true, state: 'running' });
  });
  const { rows } = await world.database.pool.query<{ reason: string; body: string }>(
    'select reason, body from data.quarantine',
  );
  expect(rows.every(({ body }) => body.includes('_usd'))).toBe(true);
  expect(rows.map(({ reason }) => reason)).toContainEqual(expect.stringContaining('yes_price_dollars'));
  await eventually(async () => {
    expect(now() - ((await progressOf('venue_b')).asOf ?? 0)).toBeGreaterThan(3_000_000);
  });
  const sound = await progressOf('venue_e');
  expect(now() - (sound.asOf ?? 0)).toBeLessThan(3_000_000);
  expect(sound).toMatchObject({ isQuarantined: false, quarantined: 0 });
  b.proxy.meddle({});
  await expectAll(b);
  await eventually(async () => {
    const again = await progressOf('venue_b');
    expect(again.isQuarantined).toBe(false);
    expect(now() - (again.asOf ?? 0)).toBeLessThan(3_000_000);
  });
});

it('keeps the books of both venues, each outcome of venue_e separately', async () => {
  const [one, other] = [await b.market(), await e.market()];
  await b.bid(one, '0.30');
  await e.bid(other, '0.20');
  await start();
  await eventually(async () => {
    const { rows } = await world.database.pool.query(
      `select market_id, outcome_index, jsonb_array_length(bids) as bids, jsonb_array_length(asks) as asks
       from data.books where market_id = any ($1) order by bids desc, outcome_index`,
      [[one, other]],
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { market_id: one, outcome_index: 0, bids: 1, asks: 0 },
        { market_id: other, outcome_index: 0, bids: 1, asks: 0 },
        { market_id: other, outcome_index: 1, bids: 0, asks: 0 },
      ]),
    );
    expect(rows).toHaveLength(3);
  });
});
