import { afterEach, expect, it } from '@jest/globals';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { MarketDataEvent } from '../../rules/events.js';
import type { Provider } from '../../rules/providers.js';
import type { SourceBatch } from '../source.js';
import { openSeed, type OpenedSeed } from './seed.js';
import { readSeedCursor } from './seed-cursor.js';
import { SeedWorld } from './world.js';

const SECOND = 1_000_000;
const clock = new MovableClock();

afterEach(() => {
  clock.goOn();
  clock.forgetTimers();
});

function seedOf(stored?: string, endAtStart: readonly Provider[] = [], seed = 'one'): OpenedSeed {
  return openSeed({
    ...{ seed, clock, scale: 0.2, endAtStart: new Set(endAtStart) },
    stored: () => Promise.resolve(stored),
  });
}

/** Follows one feed until the test has what it needs. */
async function followed(
  { feeds }: OpenedSeed,
  of: string,
  from: string | undefined,
  isEnough: (batches: readonly SourceBatch[]) => boolean,
): Promise<SourceBatch[]> {
  const stop = new AbortController();
  const batches: SourceBatch[] = [];
  const feed = feeds.find((each) => each.of === of);
  for await (const batch of feed?.follow(from, stop.signal) ?? []) {
    if ('quarantined' in batch) throw new Error('a seed is in its own form');
    batches.push(batch);
    if (isEnough(batches)) break;
    if (batch.isCaughtUp) clock.leap(1_000);
  }
  stop.abort();
  return batches;
}

const journaled = (batches: readonly SourceBatch[]): MarketDataEvent[] =>
  batches.flatMap(({ events }) => events.filter(({ type }) => type !== 'BOOK'));
const caughtUp =
  (times: number) =>
  (batches: readonly SourceBatch[]): boolean =>
    batches.filter(({ isCaughtUp }) => isCaughtUp).length >= times;

it('a restart continues the same world, with no event repeated or lost', async () => {
  const first = await followed(seedOf(), 'venue_a', undefined, caughtUp(40));
  const cursor = first.at(-1)?.cursor ?? '';
  clock.leap(7_000);
  const second = await followed(
    seedOf(cursor, [], 'another, which no longer counts'),
    'venue_a',
    cursor,
    caughtUp(40),
  );
  const events = journaled([...first, ...second]);
  const { start, told: until } = readSeedCursor(second.at(-1)?.cursor ?? '');
  const world = new SeedWorld({ seed: 'one', start, scale: 0.2, endAtStart: new Set() });
  expect(events).toEqual(world.events('venue_a', { from: world.opens, until }));
  expect(until - start).toBeGreaterThan(80 * SECOND);
  expect(second[0]?.events.some((event) => event.type === 'BOOK' && event.snapshot)).toBe(true);
});

it('a restart within the history resumes there', async () => {
  const first = await followed(seedOf(), 'venue_c', undefined, (batches) => batches.length === 2);
  const cursor = first.at(-1)?.cursor ?? '';
  const second = await followed(seedOf(cursor), 'venue_c', cursor, caughtUp(1));
  const { start, told: sentUntil } = readSeedCursor(second.at(-1)?.cursor ?? '');
  const world = new SeedWorld({ seed: 'one', start, scale: 0.2, endAtStart: new Set() });
  expect(journaled([...first, ...second])).toEqual(
    world.events('venue_c', { from: world.opens, until: sentUntil }),
  );
});

it('events of a downtime are sent in spans, and the feed is caught up only after them', async () => {
  const first = await followed(seedOf(), 'venue_d', undefined, caughtUp(2));
  const cursor = first.at(-1)?.cursor ?? '';
  clock.leap(5 * 3_600_000 + 300_000);
  const second = await followed(seedOf(cursor), 'venue_d', cursor, caughtUp(1));
  expect(second.map(({ isCaughtUp }) => isCaughtUp)).toEqual([false, false, false, false, false, true]);
  const { start, told: sentUntil } = readSeedCursor(second.at(-1)?.cursor ?? '');
  const world = new SeedWorld({ seed: 'one', start, scale: 0.2, endAtStart: new Set() });
  expect(journaled([...first, ...second])).toEqual(
    world.events('venue_d', { from: world.opens, until: sentUntil }),
  );
});

it('a venue that another source feeds has a history up to the first start, and then waits', async () => {
  const seed = seedOf(undefined, ['venue_b']);
  expect([...seed.liveSources.keys()].sort()).toEqual(['venue_a', 'venue_c', 'venue_d', 'venue_e']);
  expect([...seed.endedSources.keys()]).toEqual(['venue_b']);
  const stop = new AbortController();
  const feed = seed.feeds.find(({ of }) => of === 'venue_b');
  const batches: SourceBatch[] = [];
  for await (const batch of feed?.follow(undefined, stop.signal) ?? []) {
    if ('quarantined' in batch) continue;
    batches.push(batch);
    if (batch.isCaughtUp) clock.after(50, () => stop.abort());
  }
  const { start, told: sentUntil } = readSeedCursor(batches.at(-1)?.cursor ?? '');
  expect(sentUntil).toBe(start);
  expect(batches.filter(({ asOf }) => asOf !== undefined)).toEqual([]);
  expect(Math.max(...journaled(batches).map(({ received_at }) => received_at))).toBeLessThan(start);
});

it('a venue whose other source was removed goes on, with the events that were left out', async () => {
  const before = await followed(seedOf(undefined, ['venue_b']), 'venue_b', undefined, caughtUp(1));
  const cursor = before.at(-1)?.cursor ?? '';
  const after = await followed(seedOf(cursor), 'venue_b', cursor, caughtUp(1));
  const { start, told: sentUntil } = readSeedCursor(after.at(-1)?.cursor ?? '');
  const world = new SeedWorld({ seed: 'one', start, scale: 0.2, endAtStart: new Set() });
  const all = new Map(
    journaled([...before, ...after]).map((event) => [`${event.type} ${event.source_id}`, event] as const),
  );
  const wanted = world.events('venue_b', { from: world.opens, until: sentUntil });
  const open = wanted.filter(({ type, source_id }) => !all.has(`${type} ${source_id}`));
  expect(open).toEqual([]);
});

it('a span that is read again has the same events', async () => {
  const seed = seedOf();
  const [first] = await followed(seed, 'labels', undefined, (batches) => batches.length === 1);
  const { start } = readSeedCursor(first?.cursor ?? '');
  const feed = seed.feeds.find(({ of }) => of === 'labels');
  const again: SourceBatch[] = [];
  const stop = new AbortController();
  for await (const batch of feed?.backfill(0, start, stop.signal) ?? []) {
    if (!('quarantined' in batch)) again.push(batch);
  }
  const world = new SeedWorld({ seed: 'one', start, scale: 0.2, endAtStart: new Set() });
  expect(journaled(again)).toEqual(world.events('labels', { from: world.opens, until: start }));
});

it('a cursor in another format is refused', () => {
  for (const text of ['', '7', 'seed/2 1 2 1 one', 'seed/1 one 2 1 one']) {
    expect(() => readSeedCursor(text)).toThrow();
  }
});
