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
  /** The first record of shard 0 that is none. */
  readonly damaged: { from: number };
  /** Where shard 0 ends; shard 1 is empty. */
  readonly shown: { to: number };
  readonly faults: unknown[];
}

interface Given {
  readonly damagedFrom?: number;
  readonly shown?: number;
  readonly startingPoint?: (shard: number) => Promise<StartingPoint>;
}

function fromTheFirst(): Promise<StartingPoint> {
  return Promise.resolve({ position: 0, states: [] });
}

function opened(given: Given): Opened {
  const damaged = { from: given.damagedFrom ?? Infinity };
  const shown = { to: given.shown ?? journal.length };
  const faults: unknown[] = [];
  const reader: JournalReader = {
    heads: (shards = [0, 1]) =>
      Promise.resolve(new Map(shards.map((shard) => [shard, shard === 0 ? shown.to : 0]))),
    entries: () => Promise.resolve([]),
    read: (shard, from, limit) => {
      if (shard !== 0) return Promise.resolve([]);
      const behind = Math.min(from - 1 + limit, shown.to, damaged.from - 1);
      if (from <= behind) return Promise.resolve(journal.slice(from - 1, behind));
      if (from > shown.to) return Promise.resolve([]);
      return Promise.reject(new JournalCorrupt(shard, damaged.from, 'its hash is wrong'));
    },
  };
  const feed = new Feed({
    reader,
    clock: new SystemClock(),
    shards: 2,
    history: 100,
    startingPoint: given.startingPoint ?? fromTheFirst,
    onFailure: (error) => faults.push(error),
  });
  return { feed, damaged, shown, faults };
}

describe('a feed beside damaged journals', () => {
  it('stands still at damage, and goes on when something sound follows what it has told', async () => {
    const { feed, damaged, faults } = opened({ damagedFrom: 3 });
    await feed.start();
    expect([feed.stoppedShards, feed.positions()]).toEqual([[0], [2, 0]]);
    damaged.from = Infinity;
    await eventually(() => expect(feed.positions()).toEqual([journal.length, 0]));
    expect([feed.stoppedShards, faults.length]).toEqual([[], 1]);
    await feed.stop();
  });

  it('does not take what it knows for all, where a shard was damaged when it began, until it has come to its end', async () => {
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

  it('takes what it has told for all there is, where damage comes behind it', async () => {
    const { feed, shown } = opened({ damagedFrom: 3, shown: 2 });
    await feed.start();
    expect([feed.positions(), feed.isWhole]).toEqual([[2, 0], true]);
    shown.to = journal.length;
    feed.hear(0, { head: shown.to });
    await eventually(() => expect(feed.stoppedShards).toEqual([0]));
    expect(feed.isWhole).toBe(true);
    await feed.stop();
  });

  it('begins beside a shard of which nothing can be known, and takes it in when it can', async () => {
    let isMended = false;
    const { feed, faults } = opened({
      startingPoint: (shard) => {
        if (shard === 1 || isMended) return fromTheFirst();
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
    isMended = true;
    await eventually(() => expect(feed.isWhole).toBe(true));
    expect([feed.stoppedShards, feed.positions(), faults.length]).toEqual([[], [journal.length, 0], 1]);
    expect(heard.length).toBeGreaterThan(0);
    await feed.stop();
  });
});
