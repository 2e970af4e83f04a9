import { describe, expect, it } from '@jest/globals';
import { encodeEvent } from '../../rules/event-versions.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { eventually } from '#libs/testing/eventually.js';
import { realistic, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { journalOfTexts } from '../fixtures/auction-world.js';
import { Feed, type StartingPoint } from './feed.js';

const story = new AuctionStory(storyTerms()).submits('mia').closes().awardsNobody('RESERVE_NOT_MET');
const journal = journalOfTexts(0, realistic(story.events, 'first', 0, 0).map(encodeEvent));

interface Opened {
  readonly feed: Feed;
  /** The first damaged record of shard 0. */
  readonly damaged: { from: number };
  /** The head of shard 0; shard 1 is empty. */
  readonly shown: { to: number };
  readonly faults: unknown[];
}

interface Options {
  readonly damagedFrom?: number;
  readonly shown?: number;
  readonly startingPoint?: (shard: number) => Promise<StartingPoint>;
}

function fromTheFirst(): Promise<StartingPoint> {
  return Promise.resolve({ position: 0, states: [] });
}

function opened(options: Options): Opened {
  const damaged = { from: options.damagedFrom ?? Infinity };
  const shown = { to: options.shown ?? journal.length };
  const faults: unknown[] = [];
  const reader: JournalReader = {
    heads: (shards = [0, 1]) =>
      Promise.resolve(new Map(shards.map((shard) => [shard, shard === 0 ? shown.to : 0]))),
    entries: () => Promise.resolve([]),
    read: (shard, from, limit) => {
      if (shard !== 0) return Promise.resolve([]);
      const last = Math.min(from - 1 + limit, shown.to, damaged.from - 1);
      if (from <= last) return Promise.resolve(journal.slice(from - 1, last));
      if (from > shown.to) return Promise.resolve([]);
      return Promise.reject(new JournalCorrupt(shard, damaged.from, 'its hash is wrong'));
    },
  };
  const feed = new Feed({
    reader,
    clock: new SystemClock(),
    shards: 2,
    history: 100,
    startingPoint: options.startingPoint ?? fromTheFirst,
    onFailure: (error) => faults.push(error),
  });
  return { feed, damaged, shown, faults };
}

describe('a feed with damaged journals', () => {
  it('stops at damage, and goes on when a sound record follows what it has read', async () => {
    const { feed, damaged, faults } = opened({ damagedFrom: 3 });
    await feed.start();
    expect([feed.stoppedShards, feed.positions()]).toEqual([[0], [2, 0]]);
    damaged.from = Infinity;
    await eventually(() => expect(feed.positions()).toEqual([journal.length, 0]));
    expect([feed.stoppedShards, faults.length]).toEqual([[], 1]);
    await feed.stop();
  });

  it('is not whole after starting on a damaged shard until it has read the shard to its end', async () => {
    const { feed, damaged } = opened({ damagedFrom: 3 });
    await feed.start();
    expect(feed.isWhole).toBe(false);
    damaged.from = 4;
    await eventually(() => expect(feed.positions()).toEqual([3, 0]));
    expect(feed.isWhole).toBe(false);
    damaged.from = Infinity;
    await eventually(() => expect(feed.isWhole).toBe(true));
    expect(feed.positions()).toEqual([journal.length, 0]);
    await feed.stop();
  });

  it('stays whole when damage comes after what it has read', async () => {
    const { feed, shown } = opened({ damagedFrom: 3, shown: 2 });
    await feed.start();
    expect([feed.positions(), feed.isWhole]).toEqual([[2, 0], true]);
    shown.to = journal.length;
    feed.hear(0, { head: shown.to });
    await eventually(() => expect(feed.stoppedShards).toEqual([0]));
    expect(feed.isWhole).toBe(true);
    await feed.stop();
  });

  it('starts even if a shard cannot be read at all, and reads it once it can', async () => {
    let isRepaired = false;
    const { feed, faults } = opened({
      startingPoint: (shard) => {
        if (shard === 1 || isRepaired) return fromTheFirst();
        return Promise.reject(new JournalCorrupt(shard, 7, 'nothing can be read there'));
      },
    });
    await feed.start();
    expect([feed.stoppedShards, feed.isWhole, feed.positions()]).toEqual([[0], false, [0, 0]]);
    const heard: string[] = [];
    feed.listen(uuidNamed('mia'), {
      onEvents: (_, events) => {
        heard.push(...events.map(({ members }) => members));
      },
    });
    isRepaired = true;
    await eventually(() => expect(feed.isWhole).toBe(true));
    expect([feed.stoppedShards, feed.positions(), faults.length]).toEqual([[], [journal.length, 0], 1]);
    expect(heard.length).toBeGreaterThan(0);
    await feed.stop();
  });
});
