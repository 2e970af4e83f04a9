import type { Caller } from '#libs/edge/endpoint.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { realistic, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AuctionWorld, journalOf } from '../fixtures/auction-world.js';
import { Chat, type Heard } from '../fixtures/chat.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { type GatewayOptions, sessionOf, TestGateway } from '../fixtures/test-gateway.js';
import { TestSocket } from '#libs/socket/fixtures/test-socket.js';
import type { SessionOutcome } from '#libs/socket/session-guard.js';

const mia = uuidNamed('mia');
const FIRST = uuidNamed('first');
const OPENED = 2;
const TO_ITS_END = ['QUOTE_ACCEPTED', 'AUCTION_CLOSED', 'QUOTE_NOT_AWARDED', 'AUCTION_COMPLETED'];

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

type Events = ReturnType<typeof realistic>;

function journaled(name: string, play = (story: AuctionStory): AuctionStory => story): Events {
  return realistic(play(new AuctionStory(storyTerms())).events, name, 0, 0);
}

function refused(times: number): Events {
  return journaled('second', (story) => {
    for (let time = 0; time < times; time += 1) story.isRefused('mia', 'SUBMIT');
    return story;
  });
}

/** Mia quotes and wins nothing. */
const ended = journaled('first', (story) => story.submits('mia').awardsNobody('RESERVE_NOT_MET'));

interface Opened {
  readonly world: AuctionWorld;
  readonly gateway: TestGateway;
}

/** Everything is written and nothing read. */
async function openedWith(events: Events, options: GatewayOptions = {}): Promise<Opened> {
  const world = new AuctionWorld([journalOf(0, events)]);
  const gateway = new TestGateway(world, clock, options);
  await gateway.start();
  world.write(0, Infinity);
  return { world, gateway };
}

/** A connection that got the beginning of an auction and then ended. */
async function tokenAfter(gateway: TestGateway, records: number, subscription: object): Promise<string> {
  await gateway.takeIn(0, records);
  const chat = new Chat(gateway, mia);
  await chat.hello();
  const heard = await chat.say('subscribe', subscription);
  chat.connection.onClosed(1006);
  return String(heard.at(-1)?.resume_token);
}

function kindsOf(heard: readonly Heard[]): unknown[] {
  return heard.map(({ type, kind }) => kind ?? type);
}

describe('a resumed connection whose gateway has forgotten what it missed', () => {
  const noise = [1, 2, 3].flatMap((number) => journaled(`later ${number}`));

  it.each([
    ['all auctions', { channel: 'auctions' }],
    ['the auction', { channel: 'auction', auction_id: FIRST }],
  ])('gets the end of an auction, in a subscription to %s', async (_, wish) => {
    const { gateway, world } = await openedWith([...ended, ...noise], { history: 2 });
    const token = await tokenAfter(gateway, OPENED, wish);
    await gateway.takeInAll();
    expect(gateway.feed.find(FIRST, mia)).toBeUndefined();
    const [welcome, ...events] = await new Chat(gateway, mia).say('hello', { resume_token: token });
    expect(welcome).toMatchObject({ type: 'welcome', resumed: true });
    expect(kindsOf(events.slice(0, 4))).toEqual(TO_ITS_END);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((__, index) => index + 1));
    expect(events.filter(({ auction_id: id }) => id !== FIRST)).toHaveLength('auction_id' in wish ? 0 : 6);
    expect(world.recalls).toBe(1);
  });

  const others = JSON.stringify(
    Array.from({ length: 9 }, (_, number) => journaled(`theirs ${number}`)).flat(),
  );
  const theirs = JSON.parse(others.replaceAll(mia, uuidNamed('none'))) as Events;

  it('gets the same bytes, whatever others have done meanwhile', async () => {
    const receive = async (noise: Events): Promise<{ frames: Heard[]; recalls: number }> => {
      clock = new SteppedClock();
      const own = [...ended.slice(1), ...refused(9)];
      const journal = [
        ended[0]!,
        ...own.flatMap((event, index) => [event, ...noise.slice(index, index + 1)]),
      ];
      const { gateway, world } = await openedWith(journal, { history: 15, limits: { tokenEvents: 3 } });
      const token = await tokenAfter(gateway, OPENED, { channel: 'auctions' });
      await gateway.takeInAll();
      const chat = new Chat(gateway, mia);
      const heard = await chat.say('hello', { resume_token: token });
      clock.pass(10_000);
      heard.push(...(await chat.tick()));
      const plain = ({ resume_token: resumeToken, connection_id: id, ...frame }: Heard): Heard => {
        return { ...frame, token: String(resumeToken).length, id: String(id).length };
      };
      return { frames: heard.map(plain), recalls: world.recalls };
    };
    const [alone, among] = [await receive([]), await receive(theirs)];
    expect(among.frames).toEqual(alone.frames);
    expect(alone.frames.length).toBeGreaterThan(12);
    expect([alone.recalls, among.recalls]).toEqual([0, 1]);
  });

  it('gets only a welcome if nothing of its own has happened', async () => {
    const { gateway, world } = await openedWith([...journaled('first'), ...theirs], { history: 3 });
    const token = await tokenAfter(gateway, OPENED, { channel: 'auctions' });
    await gateway.takeInAll();
    const chat = new Chat(gateway, mia);
    expect(kindsOf(await chat.say('hello', { resume_token: token }))).toEqual(['welcome']);
    clock.pass(10_000);
    expect(kindsOf(await chat.tick())).toEqual(['heartbeat']);
    expect(world.recalls).toBe(1);
  });

  it('gets it in pages, no faster than it reads', async () => {
    const limits = { historyPageEvents: 10, bufferedMessages: 40 };
    const { gateway, world } = await openedWith(refused(300), { history: 3, limits });
    const token = await tokenAfter(gateway, OPENED, { channel: 'auctions' });
    await gateway.takeInAll();
    const socket = new TestSocket(true);
    const chat = new Chat(gateway, mia, socket);
    chat.connection.onText(JSON.stringify({ type: 'hello', cmd_id: 'h', resume_token: token }));
    await settled();
    const pieces = world.recalls;
    expect(pieces).toBeLessThan(3);
    const events = (await chat.hear()).slice(1);
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    expect(world.recalls).toBeGreaterThan(25);
  });

  it('waits for a history store that lags, and is closed and may resume with the same token if that takes too long', async () => {
    const { gateway, world } = await openedWith([...ended, ...noise], { history: 2 });
    const token = await tokenAfter(gateway, OPENED, { channel: 'auctions' });
    await gateway.takeInAll();
    world.lags[0] = 5;
    const chat = new Chat(gateway, mia);
    await chat.say('hello', { resume_token: token });
    clock.pass(4_900);
    expect(await chat.hear()).toEqual([]);
    world.lags[0] = 1;
    clock.pass(100);
    expect(kindsOf(await chat.hear()).slice(0, 4)).toEqual(TO_ITS_END);

    world.lags[0] = 5;
    const impatient = new Chat(gateway, mia);
    expect(kindsOf(await impatient.say('hello', { resume_token: token }))).toEqual(['welcome']);
    for (let waited = 0; waited < 60; waited += 1) {
      clock.pass(100);
      await settled();
    }
    expect(impatient.closedWith).toBe(4503);
  });
});

describe('a subscription that was cut off while it was sent earlier entries', () => {
  const noise = [1, 2, 3].flatMap((number) => journaled(`later ${number}`));
  const wish = { channel: 'auction', auction_id: FIRST, after_seq: 0 };
  const WHOLE = ['AUCTION_OPENED', 'INVITATION_RECEIVED', ...TO_ITS_END];

  it.each([
    ['is still open', 3, [...ended, ...noise]],
    ['has ended and is forgotten', Infinity, [...ended, ...noise]],
  ])('continues after what the client has, to the end, when the auction %s', async (_, records, events) => {
    const { gateway } = await openedWith(events, { history: 2, limits: { timelinePage: 2 } });
    await gateway.takeIn(0, records);
    const first = new Chat(gateway, mia);
    await first.hello();
    const [, snapshot, ...entries] = await first.say('subscribe', wish);
    first.connection.onClosed(1006);
    await gateway.takeInAll();
    expect(snapshot).toMatchObject({ type: 'snapshot', more: false });
    for (const received of entries.keys()) {
      const chat = new Chat(gateway, mia);
      const hello = { resume_token: snapshot!.resume_token, seen: { s1: received } };
      const [welcome, ...rest] = await chat.say('hello', hello);
      expect(welcome).toMatchObject({ resumed: true });
      expect(kindsOf(rest)).toEqual(WHOLE.slice(received));
      expect(rest.map(({ seq, timeline_seq: entry }) => [seq, entry])).toEqual(
        rest.map((__, index) => [received + index + 1, received + index + 1]),
      );
      chat.connection.onClosed(1006);
    }
  });
});

describe('a snapshot that did not arrive completely', () => {
  it.each([1_000, 2])(
    'is sent again as it was, and later ends of auctions follow (history of %d)',
    async (history) => {
      const { gateway } = await openedWith([...journaled('second'), ...ended, ...journaled('third')], {
        history,
        limits: { snapshotPart: 1 },
      });
      await gateway.takeIn(0, 3);
      const chat = new Chat(gateway, mia);
      await chat.hello();
      const [, part] = await chat.say('subscribe', { channel: 'auctions' });
      expect(part).toMatchObject({ type: 'snapshot', more: true });
      await gateway.takeInAll();
      const heard = await new Chat(gateway, mia).say('hello', { resume_token: part!.resume_token });
      expect(heard.slice(0, 4)).toMatchObject([
        { type: 'welcome', resumed: true },
        { type: 'resync', reason: 'SNAPSHOT_INCOMPLETE' },
        { type: 'snapshot', auctions: [{ view_version: 2 }], more: true },
        { type: 'snapshot', auctions: [{ view_version: 2 }], more: false },
      ]);
      expect(kindsOf(heard.slice(4))).toEqual([...TO_ITS_END, 'AUCTION_OPENED', 'INVITATION_RECEIVED']);
    },
  );
});

describe('a slow reader while an auction ends', () => {
  const early = [...ended, ...refused(40).slice(1)];
  const late = [ended[0]!, ...refused(40).slice(1), ...ended.slice(1)];

  async function slow(
    events = early,
    options: GatewayOptions = {},
  ): Promise<Opened & { readonly chat: Chat }> {
    const opened = await openedWith([...journaled('second'), ...events], {
      ...options,
      limits: { bufferedMessages: 10 },
    });
    await opened.gateway.takeIn(0, 3);
    const chat = new Chat(opened.gateway, mia, new TestSocket(true));
    await chat.hello();
    await chat.say('subscribe', { channel: 'auctions' });
    return { ...opened, chat };
  }

  it.each([
    ['among the waiting messages', early],
    ['later in the batch in delivery', late],
  ])('is closed at once if the end is %s, and resumes without a loss', async (_, events) => {
    const { chat, gateway } = await slow(events);
    await gateway.takeInAll();
    const heard = await chat.hear();
    expect(chat.closedWith).toBe(4431);
    expect(new Set(heard.map(({ type }) => type))).toEqual(new Set(['event']));
    const token = heard.findLast(({ resume_token: resumeToken }) => resumeToken !== undefined)?.resume_token;
    const seen = { s1: Number(heard.at(-1)?.seq) };
    const rest = await new Chat(gateway, mia).say('hello', { resume_token: token, seen });
    const all = [...heard, ...rest.slice(1)];
    expect(all.map(({ seq }) => seq)).toEqual(all.map((__, index) => index + 1));
    expect(kindsOf(all.filter(({ auction_id: id }) => id === FIRST))).toEqual(TO_ITS_END);
  });

  it('gets the present state if it had received the end before', async () => {
    const { chat, gateway } = await slow();
    await gateway.takeIn(0, ended.length - 1);
    expect(kindsOf(await chat.hear())).toEqual(TO_ITS_END);
    await gateway.takeInAll();
    expect(kindsOf(await chat.hear()).slice(-2)).toEqual(['resync', 'snapshot']);
  });

  it('is not closed as slow while its session cannot be checked', async () => {
    let isKnown = true;
    const checkOf = (token: string) => (): SessionOutcome<Caller> =>
      isKnown ? sessionOf(token) : 'unavailable';
    const { chat, gateway } = await slow(early, { ports: { sessions: { checkOf } } });
    isKnown = false;
    chat.connection.tick();
    await gateway.takeInAll();
    expect(chat.closedWith).toBe(4503);
  });
});

describe('a client that has seen more than its gateway knows to exist', () => {
  const SECOND = uuidNamed('second', 1);
  const first = journaled('first', (story) => {
    for (let time = 0; time < 6; time += 1) story.isRefused('mia', 'SUBMIT');
    return story;
  });
  const second = realistic(
    new AuctionStory(storyTerms()).isRefused('mia', 'SUBMIT').isRefused('mia', 'SUBMIT').events,
    'second',
    1,
    0,
  );
  const ALL = { channel: 'auctions' };
  const ONE = { channel: 'auction', auction_id: FIRST };
  const OTHER = { channel: 'auction', auction_id: SECOND };

  /**
   * It got three events of the first auction elsewhere. This gateway has read one of them, and the openings of both
   * auctions.
   */
  async function ahead(
    wishes: readonly object[],
    seen = 3,
  ): Promise<{ gateway: TestGateway; chat: Chat; heard: Heard[] }> {
    const world = new AuctionWorld([journalOf(0, first), journalOf(1, second)]);
    const [there, gateway] = [
      new TestGateway(world, clock),
      new TestGateway(world, clock, { isToldOldEnds: true }),
    ];
    for (const one of [there, gateway]) {
      await one.start();
      for (const shard of [0, 1]) {
        world.write(shard, Infinity);
        await one.takeIn(shard, OPENED);
      }
    }
    const before = new Chat(there, mia);
    await before.hello();
    for (const wish of wishes) await before.say('subscribe', wish);
    await there.takeIn(0, 3);
    const events = await before.hear();
    before.connection.onClosed(1006);
    await gateway.takeIn(0, 1);
    const chat = new Chat(gateway, mia);
    const token = events.findLast(({ resume_token: resumeToken }) => resumeToken !== undefined)?.resume_token;
    const heard = await chat.say('hello', { resume_token: token, seen: { s1: seen } });
    return { gateway, chat, heard };
  }

  it.each([
    ['all auctions', ALL],
    ['the auction', ONE],
  ])(
    'gets nothing until the missing events come, and then what follows, in a subscription to %s',
    async (_, wish) => {
      const { gateway, chat, heard } = await ahead([wish]);
      expect(kindsOf(heard)).toEqual(['welcome']);
      clock.pass(4_900);
      expect(await chat.hear()).toEqual([]);
      await gateway.takeIn(0, 1);
      expect(await chat.hear()).toEqual([]);
      await gateway.takeIn(0, 2);
      expect(await chat.hear()).toMatchObject([{ type: 'event', seq: 4, timeline_seq: 6 }]);
      clock.pass(5_000);
      await gateway.takeIn(0, 1);
      expect(await chat.hear()).toMatchObject([{ type: 'event', seq: 5, timeline_seq: 7 }]);
    },
  );

  it('gets the present state if they have not come after five seconds', async () => {
    const { gateway, chat } = await ahead([ALL], 9);
    clock.pass(2_500);
    await gateway.takeIn(0, 1);
    clock.pass(2_499);
    expect(await chat.hear()).toEqual([]);
    clock.pass(1);
    expect((await chat.hear()).slice(0, 3)).toMatchObject([
      { type: 'heartbeat' },
      { type: 'resync', reason: 'HISTORY_GONE' },
      { type: 'snapshot' },
    ]);
    await gateway.takeIn(0, 1);
    expect(await chat.hear()).toMatchObject([{ type: 'event', seq: 10, timeline_seq: 5 }]);
  });

  it('gets the missing events, however late, if the journals hold them', async () => {
    const { gateway, chat } = await ahead([ALL]);
    Object.assign(gateway.feed, { heads: () => Promise.resolve([OPENED + 3, 0]) });
    clock.pass(5_000);
    expect(await chat.hear()).toEqual([]);
    clock.pass(4_000);
    await gateway.takeIn(0, 3);
    expect(await chat.hear()).toMatchObject([{ type: 'event', seq: 4, timeline_seq: 6 }]);
  });

  it.each([
    ["the journals' heads", () => Promise.reject(new Error('no broker leads the topic'))],
    ["the journals' contents", () => Promise.resolve([OPENED + 3, 0])],
  ])(
    'is closed to resume elsewhere, with all that it has seen, if this gateway cannot learn %s',
    async (_, heads) => {
      const { gateway, chat } = await ahead([ALL]);
      Object.assign(gateway.feed, { heads });
      clock.pass(5_000);
      await chat.hear();
      clock.pass(5_000);
      expect(kindsOf(await chat.hear())).not.toContain('resync');
      expect(chat.closedWith).toBe(4503);
    },
  );

  it('gets events of its other subscriptions meanwhile', async () => {
    const { gateway, chat } = await ahead([ONE, OTHER]);
    await gateway.takeIn(1, 1);
    expect(await chat.hear()).toMatchObject([{ subscription_id: 's2', seq: 1, auction_id: SECOND }]);
    chat.connection.onText('{"type":"ping","cmd_id":"p"}');
    expect(kindsOf(await chat.hear())).toEqual(['pong']);
    await gateway.takeInAll();
    expect((await chat.hear()).map(({ subscription_id: id, seq }) => [id, seq])).toEqual([
      ['s1', 4],
      ['s1', 5],
      ['s1', 6],
      ['s2', 2],
    ]);
  });

  it('gets no event of other auctions before the missing ones, in a subscription to all auctions', async () => {
    const { gateway, chat } = await ahead([ALL]);
    await gateway.takeIn(1, 2);
    expect(await chat.hear()).toEqual([]);
    await gateway.takeIn(0, 3);
    expect((await chat.hear()).map(({ auction_id: id, seq }) => [id, seq])).toEqual([
      [FIRST, 4],
      [SECOND, 5],
      [SECOND, 6],
    ]);
  });

  it('can resume elsewhere with a token that it got meanwhile', async () => {
    const { gateway, chat } = await ahead([ONE, OTHER]);
    await gateway.takeIn(1, 1);
    const [event] = await chat.hear();
    expect(typeof event?.resume_token).toBe('string');
    chat.connection.onClosed(1006);
    await gateway.takeInAll();
    const [welcome, ...rest] = await new Chat(gateway, mia).say('hello', {
      resume_token: event?.resume_token,
      seen: { s1: 3, s2: 1 },
    });
    expect(welcome).toMatchObject({ type: 'welcome', resumed: true });
    expect(rest.map(({ subscription_id: id, seq }) => [id, seq]).sort()).toEqual([
      ['s1', 4],
      ['s1', 5],
      ['s1', 6],
      ['s2', 2],
    ]);
  });

  it('is not waited for after it has ended or unsubscribed', async () => {
    const gone = await ahead([ALL]);
    const whileItWaits = clock.pending;
    gone.chat.connection.onClosed(1006);
    expect(clock.pending).toBe(whileItWaits - 1);
    const { chat } = await ahead([ALL]);
    expect(kindsOf(await chat.say('unsubscribe', { subscription_id: 's1' }))).toEqual([
      'unsubscribed',
      'heartbeat',
    ]);
    expect(kindsOf(await chat.say('subscribe', ALL))).toEqual(['subscribed', 'snapshot']);
  });
});
