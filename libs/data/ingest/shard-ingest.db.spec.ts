import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import type { Provider } from '../rules/providers.js';
import type { StoredMarket } from '../store/market-table.js';
import { applied, clock, IngestWorld, takeAll, TABLES } from '#libs/testing/data/ingest-world.js';
import { dataProjection } from './projection.js';
import { DataRebuild } from './rebuild.js';
import { slowCandles, slowMarkets, slowTrades } from '#libs/testing/data/slow-fold.js';
import { delivered, randomOf, randomStream } from '#libs/testing/data/streams.js';

jest.setTimeout(120_000);

let world: IngestWorld;

beforeAll(async () => {
  world = await IngestWorld.make();
});
afterAll(() => world.end());
afterEach(() => world.empty());

describe.each<Provider>(['venue_a', 'venue_b'])('events of %s', (provider) => {
  it.each([1, 2, 3])(
    'in any order, repeated and split anywhere, give the same rows as a simple reference (seed %i)',
    async (seed) => {
      const events = randomStream(provider, seed, 400);
      await world.ingestAll(provider, delivered(events, randomOf(seed + 100)));
      expect(world.faults).toEqual([]);
      expect(await world.storedTrades()).toEqual(slowTrades(events));
      expect(await world.storedCandles()).toEqual(slowCandles(provider, events));
      expect((await world.rows()).waiting).toEqual([]);
      const { rows: statuses } = await world.database.pool.query<{
        market_id: string;
        name: string;
        status: string;
      }>(
        `select market_id, state -> 'details' ->> 'name' as name, status from data.markets order by market_id`,
      );
      expect(statuses).toEqual(slowMarkets(provider, events));
    },
  );
});

describe('the journal of a provider', () => {
  it.each([[1], [7, 1, 30], [250]])(
    'gives the same rows however it is split (by %p and so on)',
    async (...sizes) => {
      const events = randomStream('venue_a', 5, 250);
      const one = await world.open('venue_a');
      await takeAll(one, [events]);
      await one.resume();
      await applied(one);
      const whole = await world.rows();
      await one.pause();
      await world.database.pool.query(
        `truncate data.offsets, ${TABLES.map(({ name }) => `data.${name}`).join(', ')}`,
      );
      const projector = (): Projector<StoredMarket> =>
        new Projector(
          dataProjection(() => undefined),
          { inTransaction: transactionsOf(world.database.pool), clock },
        );
      const remembering = projector();
      const entries = await world.reader.read(0, 1, 10_000);
      for (let at = 0, turn = 0; at < entries.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        await (turn % 3 === 0 ? projector() : remembering).take(0, entries.slice(at, at + size));
        at += size;
      }
      expect(await world.rows()).toEqual(whole);
    },
  );

  it('delivered twice by the source and by the journal changes nothing', async () => {
    const events = randomStream('venue_b', 6, 250);
    const one = await world.ingestAll('venue_b', delivered(events, randomOf(1)));
    const once = await world.rows();
    const head = one.head;
    const again = await one.take('backfill', { events, cursor: '0', isCaughtUp: true });
    expect(again).toMatchObject({ journaled: 0, known: events.length, conflicts: 0 });
    expect(one.head).toBe(head + 1);
    await applied(one);
    expect(await world.rows()).toEqual(once);
  });

  it.each(['venue_a', 'venue_b'] as const)(
    '%s is rebuilt to the same bytes while it is followed, and continues',
    async (provider) => {
      const events = randomStream(provider, 7, 300);
      const one = await world.ingestAll(provider, delivered(events.slice(0, 200), randomOf(2)));
      const lines: string[] = [];
      const ports = {
        pool: world.database.pool,
        reader: world.reader,
        clock,
        say: (line: string) => lines.push(line),
      };
      const sound = await world.rows();
      expect(await new DataRebuild(ports).run()).toBe(200);
      expect(await world.rows()).toEqual(sound);
      await world.database.pool.query(
        'update data.candles set high = 1; delete from data.trades where is_busted',
      );
      expect(await world.rows()).not.toEqual(sound);
      await new DataRebuild(ports).run();
      expect(await world.rows()).toEqual(sound);
      await takeAll(one, delivered(events.slice(200), randomOf(3)));
      await applied(one);
      expect(world.faults).toEqual([]);
      expect(await world.storedCandles()).toEqual(slowCandles(provider, events));
    },
  );

  it('a kill between append and projection loses nothing and counts nothing twice', async () => {
    const events = randomStream('venue_a', 8, 200);
    const first = await world.open('venue_a');
    await takeAll(first, delivered(events.slice(0, 120), randomOf(4)));
    expect(first.position).toBe(0);
    // Another process, which got no hint. The first can write no more.
    const second = await world.open('venue_a');
    expect(second.writer.cursor('practice')).toBe(first.writer.cursor('practice'));
    await expect(first.take('practice', { events, cursor: 'x', isCaughtUp: false })).rejects.toThrow();
    await second.resume();
    await takeAll(second, delivered(events, randomOf(5)));
    await applied(second);
    expect(await world.storedTrades()).toEqual(slowTrades(events));
    expect(await world.storedCandles()).toEqual(slowCandles('venue_a', events));
  });

  it('while paused it is written and not projected; after that everything counts', async () => {
    const events = randomStream('venue_a', 9, 120);
    const one = await world.ingestAll('venue_a', [events.slice(0, 60)]);
    const before = await world.rows();
    await one.pause();
    await takeAll(one, [events.slice(40)]);
    expect(one.head).toBeGreaterThan(one.position);
    expect(await world.rows()).toEqual(before);
    await one.resume();
    await applied(one);
    expect(await world.storedCandles()).toEqual(slowCandles('venue_a', events));
  });
});
