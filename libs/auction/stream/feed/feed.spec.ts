import { describe, expect, it } from '@jest/globals';
import type { JournalEntry } from '#libs/journal/journal.js';
import { encodeEvent } from '../../rules/event-versions.js';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { realistic, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AuctionWorld, journalOfTexts } from '../fixtures/auction-world.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TestGateway } from '../fixtures/test-gateway.js';
import type { Feed } from './feed.js';
import type { FeedListener } from './listeners.js';

const [mia, may, olga, stranger] = ['mia', 'may', 'olga', 'none'].map((name) => uuidNamed(name)) as [
  string,
  string,
  string,
  string,
];

function journaled(name: string, play: (story: AuctionStory) => AuctionStory): string[] {
  return realistic(play(new AuctionStory(storyTerms())).events, name, 0, 0).map(encodeEvent);
}

interface Opened {
  readonly gateway: TestGateway;
  readonly feed: Feed;
  readonly clock: SteppedClock;
}

async function opened(journals: readonly (readonly JournalEntry[])[], history = 100): Promise<Opened> {
  const world = new AuctionWorld(journals);
  const clock = new SteppedClock();
  const gateway = new TestGateway(world, clock, { history });
  await gateway.start();
  for (const shard of journals.keys()) world.write(shard, Infinity);
  return { gateway, feed: gateway.feed, clock };
}

function kindsOf(heard: string[]): FeedListener {
  return {
    onEvents: (_, events) => {
      heard.push(...events.map(({ members }) => /"kind":"(\w+)"/.exec(members)?.[1] ?? ''));
    },
  };
}

const ID = uuidNamed('first');
const ended = journaled('first', (story) => story.submits('mia').closes().awardsNobody('RESERVE_NOT_MET'));

describe('the feed', () => {
  it('shows an auction to its parties and to no other account', async () => {
    const { gateway, feed } = await opened([
      journalOfTexts(
        0,
        journaled('first', (story) => story.submits('mia')),
      ),
    ]);
    await gateway.takeInAll();
    expect(feed.find(ID, mia)?.viewer.role).toBe('MARKET_MAKER');
    expect(feed.find(ID, olga)?.viewer.role).toBe('ORIGINATOR');
    expect(feed.find(ID, stranger)).toBeUndefined();
    expect(feed.live(stranger)).toEqual([]);
    expect(feed.live(may).map(({ state }) => state.terms.auction_id)).toEqual([ID]);
  });

  it('counts an auction as live until its last entry, and keeps it while its end is in the history', async () => {
    const later = Array.from({ length: 6 }, (_, index) =>
      journaled(`later ${index}`, (story) => story),
    ).flat();
    const { gateway, feed } = await opened(
      [journalOfTexts(0, [...journaled('first', (story) => story.cancelled()), ...later])],
      4,
    );
    await gateway.takeIn(0, 3);
    expect(feed.find(ID, mia)?.state.status).toBe('CANCELLED');
    expect(feed.live(mia)).toHaveLength(1);
    await gateway.takeIn(0, 1);
    expect(feed.live(mia)).toHaveLength(0);
    await gateway.takeIn(0, 3);
    expect(feed.find(ID, mia)).toBeDefined();
    await gateway.takeIn(0, 1);
    expect(feed.find(ID, mia)).toBeUndefined();
    expect(feed.live(mia)).toHaveLength(4);
  });

  it('does not notify a listener added during the notification, or one just removed', async () => {
    const { gateway, feed } = await opened([journalOfTexts(0, ended)]);
    const heard: string[] = [];
    const stops: (() => void)[] = [];
    feed.listen(mia, {
      onEvents: () => {
        stops.push(feed.listen(mia, kindsOf(heard)));
        unlistenThird();
      },
    });
    const unlistenThird = feed.listen(mia, kindsOf(heard));
    await gateway.takeIn(0, 2);
    expect(heard).toEqual([]);
    stops[0]?.();
  });

  it('stops at a record that it cannot read, sends what came before, and follows the other shards', async () => {
    const fromTomorrow = JSON.stringify({ type: 'FROM_TOMORROW', version: 1, at: '', data: {} });
    const [first, second, ...rest] = ended;
    const unreadable = journalOfTexts(0, [first!, second!, fromTomorrow, ...rest]);
    const { gateway, feed } = await opened([
      unreadable,
      journalOfTexts(
        1,
        journaled('second', (story) => story),
      ),
    ]);
    const heard: string[] = [];
    feed.listen(mia, kindsOf(heard));
    await gateway.takeIn(0, 100);
    await gateway.takeIn(0, 100);
    await gateway.takeIn(1, 100);
    expect(heard).toEqual([
      'AUCTION_OPENED',
      'INVITATION_RECEIVED',
      'QUOTE_ACCEPTED',
      'AUCTION_OPENED',
      'INVITATION_RECEIVED',
    ]);
    expect(feed.positions()).toEqual([3, 2]);
    expect(feed.stoppedShards).toEqual([0]);
    expect(gateway.faults).toHaveLength(1);
  });

  it('starts even if a record cannot be read', async () => {
    const fromTomorrow = JSON.stringify({ type: 'FROM_TOMORROW', version: 1, at: '', data: {} });
    const world = new AuctionWorld([journalOfTexts(0, [fromTomorrow]), journalOfTexts(1, ended)]);
    for (const shard of [0, 1]) world.write(shard, Infinity);
    const gateway = new TestGateway(world, new SteppedClock());
    const { feed } = gateway;
    await gateway.takeInAll();
    await gateway.start();
    expect(feed.stoppedShards).toEqual([0]);
    expect(feed.positions()).toEqual([1, ended.length + 1]);
    expect(feed.isWhole).toBe(false);
    await gateway.stop();
  });

  it('waits until a condition holds, or until the time limit', async () => {
    const { gateway, feed, clock } = await opened([journalOfTexts(0, ended)]);
    const outcomes: boolean[] = [];
    const wait = (isDone: () => boolean, millis: number): void => {
      void feed.waitUntil(isDone, millis).then((done) => outcomes.push(done));
    };
    wait(() => feed.hasReached([2]), 1_000);
    wait(() => feed.hasReached([99]), 500);
    wait(() => true, 0);
    await gateway.takeIn(0, 1);
    expect(outcomes).toEqual([true]);
    await gateway.takeIn(0, 1);
    expect(outcomes).toEqual([true, true]);
    clock.pass(500);
    await gateway.takeIn(0, 1);
    expect(outcomes).toEqual([true, true, false]);
  });
});
