import { expect, it } from '@jest/globals';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { realistic, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AuctionWorld, journalOf } from '../fixtures/auction-world.js';
import { Chat } from '../fixtures/chat.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TestGateway } from '../fixtures/test-gateway.js';

const mia = uuidNamed('mia');
const AUCTION = uuidNamed('first');

it('sends the end of an auction even if the first answers of the archive lack it', async () => {
  const clock = new SteppedClock();
  const ended = new AuctionStory(storyTerms()).closes().awardsNobody('NO_QUOTES').events;
  const later = [1, 2, 3].flatMap((n) =>
    realistic(new AuctionStory(storyTerms()).events, `later ${n}`, 0, 0),
  );
  const world = new AuctionWorld([journalOf(0, [...realistic(ended, 'first', 0, 0), ...later])]);
  const gateway = new TestGateway(world, clock, { history: 2 });
  await gateway.start();
  world.write(0, Infinity);
  await gateway.takeInAll();
  expect(gateway.feed.find(AUCTION, mia)).toBeUndefined();
  let staleAnswers = 2;
  const events = world.events.bind(world);
  Object.assign(gateway.ports.archive, {
    events: async (...args: Parameters<typeof events>) => {
      const part = await events(...args);
      if ('error' in part || staleAnswers === 0) return part;
      staleAnswers -= 1;
      const entries = part.entries.filter(({ kind }) => kind === 'AUCTION_OPENED');
      return { entries, isOver: false };
    },
  });
  const chat = new Chat(gateway, mia);
  await chat.hello({});
  const heard = await chat.say('subscribe', { channel: 'auction', auction_id: AUCTION, after_seq: 0 });
  clock.pass(50);
  heard.push(...(await chat.hear()));
  expect(staleAnswers).toBe(0);
  expect(heard.slice(2).map(({ timeline_seq: seq }) => seq)).toEqual(
    world.timelineOf(mia, AUCTION).map(({ seq }) => seq),
  );
});
