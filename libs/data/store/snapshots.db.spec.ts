import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { Snapshots } from '#libs/data/ingest/snapshots.js';
import type { MarketDataEvent } from '#libs/data/rules/events.js';
import { clock, IngestWorld, takeAll, applied } from '#libs/testing/data/ingest-world.js';
import { marketEvent, randomOf, START } from '#libs/testing/data/streams.js';
import type { ShardIngest } from '../ingest/shard-ingest.js';
import { PauseTable } from './pause-table.js';
import {
  type SnapshotPage,
  type SnapshotPlace,
  type SnapshotRead,
  SnapshotReader,
} from './snapshot-reader.js';
import { SnapshotTable } from './snapshot-table.js';

const MINUTE = 60_000_000;

describe('snapshots of open markets', () => {
  let world: IngestWorld;
  let reader: SnapshotReader;
  let ingest: ShardIngest;
  const table = new SnapshotTable();

  beforeAll(async () => {
    world = await IngestWorld.make();
    reader = new SnapshotReader(world.database.pool, 2 * MINUTE);
  });
  beforeEach(async () => {
    await world.empty();
    ingest = await world.ingestAll('venue_a', [
      ['a', 'b', 'c', 'd', 'e'].map((id) => marketEvent('venue_a', id)),
    ]);
  });
  afterAll(() => world.end());

  const renew = (at: number): Promise<void> =>
    withTransaction(world.database.pool, 'read committed', (client) => table.renew(client, 'venue_a', at));
  const then = async (...events: MarketDataEvent[]): Promise<void> => {
    await takeAll(ingest, [events]);
    await applied(ingest);
  };
  const statusOf = (id: string, status: 'closed' | 'active', at: number): MarketDataEvent => ({
    ...{
      type: 'STATUS',
      provider: 'venue_a',
      market_id: id,
      source_id: `${id} ${at}`,
      source_ts: START + at,
    },
    ...{ received_at: START, status },
  });
  const pageOf = (read: SnapshotRead): SnapshotPage => {
    if (typeof read === 'string') throw new Error(read);
    return read;
  };
  const page = async (place: SnapshotPlace | undefined, now: number, limit = 2): Promise<SnapshotPage> =>
    pageOf(await reader.page('venue_a', { limit, place }, now));
  const walked = async (place: SnapshotPlace | undefined, now: number): Promise<string[]> => {
    const { markets, next } = await page(place, now);
    const names = markets.map(({ state }) => `${state.market_id}:${state.details.name}`);
    return next === undefined ? names : [...names, ...(await walked(next, now))];
  };
  const named = (...ids: string[]): string[] => ids.map((id) => `${id}:Will ${id}?`);
  const rows = async (): Promise<number> =>
    Number(
      (await world.database.pool.query<{ n: number }>('select count(*) as n from data.snapshot_markets'))
        .rows[0]?.n,
    );

  it('returns all pages from one snapshot while markets come, go, change and reopen', async () => {
    await renew(MINUTE);
    const first = await page(undefined, MINUTE);
    expect(first.markets.map(({ state }) => state.market_id)).toEqual(['a', 'b']);
    await then(marketEvent('venue_a', 'bb'), statusOf('c', 'closed', 1), {
      ...marketEvent('venue_a', 'd', START + 2),
      name: 'renamed',
    });
    await renew(MINUTE + 30);
    await then(statusOf('c', 'active', 3), statusOf('a', 'closed', 3));
    await renew(MINUTE + 60);

    await expect(walked(first.next, MINUTE + 61)).resolves.toEqual(named('c', 'd', 'e'));
    await expect(walked(undefined, MINUTE + 61)).resolves.toEqual([
      ...named('b', 'bb', 'c'),
      'd:renamed',
      'e:Will e?',
    ]);
  });

  it('writes unchanged markets once, and deletes snapshots after ten minutes', async () => {
    for (let at = 1; at <= 5; at += 1) await renew(at * MINUTE);
    await expect(rows()).resolves.toBe(5);
    const { next } = await page(undefined, 5 * MINUTE);
    await then(statusOf('c', 'closed', 1));
    await renew(14 * MINUTE);
    await expect(rows()).resolves.toBe(5);
    expect((await page(next, 15 * MINUTE)).markets.map(({ state }) => state.market_id)).toEqual(['c', 'd']);
    await expect(reader.page('venue_a', { limit: 2, place: next }, 15 * MINUTE + 1)).resolves.toBe('expired');
    await renew(16 * MINUTE + 1);
    await expect(rows()).resolves.toBe(4);
    const { rows: kept } = await world.database.pool.query('select made_at from data.snapshots');
    expect(kept).toEqual([{ made_at: 14 * MINUTE }, { made_at: 16 * MINUTE + 1 }]);
  });

  it('is outdated without a recent snapshot, and never an empty page instead', async () => {
    await expect(reader.page('venue_a', { limit: 2 }, MINUTE)).resolves.toBe('outdated');
    await renew(MINUTE);
    await page(undefined, 3 * MINUTE);
    await expect(reader.page('venue_a', { limit: 2 }, 3 * MINUTE + 1)).resolves.toBe('outdated');
    const { next } = await page(undefined, MINUTE);
    await expect(reader.page('venue_a', { limit: 2, place: next }, 3 * MINUTE + 1)).resolves.toBe('outdated');
  });

  it('refuses a position of another provider', async () => {
    await renew(MINUTE);
    const { next } = await page(undefined, MINUTE);
    await withTransaction(world.database.pool, 'read committed', (client) =>
      table.renew(client, 'venue_b', MINUTE),
    );
    await expect(reader.page('venue_b', { limit: 2, place: next }, MINUTE)).resolves.toBe('expired');
    await expect(reader.page('venue_b', { limit: 2 }, MINUTE)).resolves.toEqual({
      markets: [],
      next: undefined,
    });
  });

  it('is renewed for every provider that is not paused', async () => {
    await new PauseTable(world.database.pool).pause('venue_c');
    const faults: unknown[] = [];
    const snapshots = new Snapshots({
      ...{ pool: world.database.pool, clock },
      onFault: (_what, error) => faults.push(error),
    });
    await snapshots.take();
    const { rows: made } = await world.database.pool.query<{ provider: number }>(
      'select provider from data.snapshots order by provider',
    );
    expect(made.map(({ provider }) => provider)).toEqual([0, 1, 3, 4, 5]);
    expect(faults).toEqual([]);
    await snapshots.stop();
  });

  it('shows the state of its time, whatever happens and whenever its pages are read', async () => {
    const random = randomOf(7);
    const names = new Map(['a', 'b', 'c', 'd', 'e'].map((id) => [id, `Will ${id}?`]));
    const closed = new Set<string>();
    const taken: { readonly first: SnapshotPage; readonly all: string[] }[] = [];
    for (let round = 1; round <= 18; round += 1) {
      const events: MarketDataEvent[] = [];
      for (let change = 0; change < random(4); change += 1) {
        const id = 'abcdefghij'.charAt(random(10));
        const at = round * 10 + change;
        if (random(2) === 0 || !names.has(id)) {
          names.set(id, `${id} of ${at}`);
          events.push({ ...marketEvent('venue_a', id, START + at), name: `${id} of ${at}` });
        } else if (closed.delete(id)) events.push(statusOf(id, 'active', at));
        else {
          closed.add(id);
          events.push(statusOf(id, 'closed', at));
        }
      }
      await then(...events);
      await renew(MINUTE + round * 30_000_000);
      const all = [...names].flatMap(([id, name]) => (closed.has(id) ? [] : [`${id}:${name}`])).sort();
      taken.push({ first: await page(undefined, MINUTE + round * 30_000_000, 1 + random(3)), all });
    }
    for (const { first, all } of taken) {
      const shown = first.markets.map(({ state }) => `${state.market_id}:${state.details.name}`);
      const rest = first.next === undefined ? [] : await walked(first.next, MINUTE + 18 * 30_000_000);
      expect([...shown, ...rest]).toEqual(all);
    }
  });

  it('has each market once, although two processes make snapshots at the same time', async () => {
    await Promise.all([renew(MINUTE), renew(MINUTE), renew(MINUTE)]);
    await then({ ...marketEvent('venue_a', 'c', START + 9), name: 'renamed' });
    await Promise.all([renew(2 * MINUTE), renew(2 * MINUTE), renew(2 * MINUTE)]);
    await expect(walked(undefined, 2 * MINUTE)).resolves.toEqual([
      ...[...named('a', 'b'), 'c:renamed', ...named('d', 'e')],
    ]);
    await expect(rows()).resolves.toBe(6);
  });
});
