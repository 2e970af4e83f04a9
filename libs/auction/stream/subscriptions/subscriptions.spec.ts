import { resumePoints } from '../resume-point.js';
import type { Caller } from '#libs/edge/endpoint.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuctionStory, storyTerms } from '#libs/testing/auctions/story.js';
import { realistic, uuidNamed } from '#libs/testing/auctions/journaled-auctions.js';
import { AuctionWorld, journalOf } from '../fixtures/auction-world.js';
import { Chat, type Heard } from '../fixtures/chat.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import {
  type GatewayOptions,
  sessionOf,
  TEST_KEY,
  TEST_LIFE,
  TestGateway,
} from '../fixtures/test-gateway.js';
import { TestSocket } from '#libs/socket/fixtures/test-socket.js';
import type { SessionOutcome } from '#libs/socket/session-guard.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';

const mia = uuidNamed('mia');
let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

function logs(name: string, laterMs = 0, play = (story: AuctionStory): AuctionStory => story) {
  return realistic(play(new AuctionStory(storyTerms())).events, name, 0, laterMs);
}

function refusedTimes(times: number): (story: AuctionStory) => AuctionStory {
  return (story) => {
    for (let time = 0; time < times; time += 1) story.isRefused('mia', 'SUBMIT');
    return story;
  };
}

interface Opened {
  readonly world: AuctionWorld;
  readonly gateway: TestGateway;
}

/** Everything is written and nothing read. */
async function openedWith(events: ReturnType<typeof logs>, options: GatewayOptions = {}): Promise<Opened> {
  const world = new AuctionWorld([journalOf(0, events)]);
  const gateway = new TestGateway(world, clock, options);
  await gateway.start();
  world.write(0, Infinity);
  return { world, gateway };
}

async function greeted(gateway: TestGateway, socket = new TestSocket(), hello: object = {}): Promise<Chat> {
  const chat = new Chat(gateway, mia, socket);
  await chat.hello(hello);
  return chat;
}

function pointOf({ resume_token: token }: Heard) {
  const now = Number(clock.epochNanos() / 1_000_000n);
  const opened = new ResumeTokens([TEST_KEY], resumePoints, TEST_LIFE).open(String(token), mia, now);
  if (!opened.ok) throw new Error(opened.error);
  return opened.point;
}

function typesOf(heard: readonly Heard[]): string[] {
  return heard.map(({ type }) => type);
}

const FIRST = uuidNamed('first');

describe('a subscription to all auctions', () => {
  it('starts with the live auctions, newest first and in parts, and continues with new events', async () => {
    const events = [0, 1, 2, 3, 4].flatMap((number) => logs(`auction ${number}`, number * 1_000));
    const { gateway } = await openedWith([...events, ...logs('next', 9_000)], {
      limits: { snapshotPart: 2 },
    });
    await gateway.takeIn(0, 6);
    const chat = await greeted(gateway);
    const [subscribed, ...parts] = await chat.say('subscribe', { channel: 'auctions' });
    expect(subscribed).toEqual({ type: 'subscribed', cmd_id: 'c2', subscription_id: 's1' });
    expect(parts.map(({ more }) => more)).toEqual([true, true, false]);
    expect(parts.map((part) => pointOf(part).subscriptions[0]?.isComplete)).toEqual([false, false, true]);
    const shown = parts.flatMap(({ auctions }) => auctions as { auction_id: string }[]);
    expect(shown.map(({ auction_id: id }) => id)).toEqual(
      [4, 3, 2, 1, 0].map((number) => uuidNamed(`auction ${number}`)),
    );
    await gateway.takeInAll();
    expect(await chat.hear()).toMatchObject([
      { type: 'event', subscription_id: 's1', seq: 1, auction_id: uuidNamed('next'), timeline_seq: 1 },
      { type: 'event', subscription_id: 's1', seq: 2, auction_id: uuidNamed('next'), timeline_seq: 2 },
    ]);
  });

  it('gets a token with the first event, and then after a number of events or a time', async () => {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(20)), { limits: { tokenEvents: 4 } });
    const chat = await greeted(gateway);
    await chat.say('subscribe', { channel: 'auctions' });
    await gateway.takeIn(0, 9);
    const withToken = (heard: readonly Heard[]): unknown[] =>
      heard.filter(({ resume_token: token }) => token !== undefined).map(({ seq }) => seq);
    expect(withToken(await chat.hear())).toEqual([1, 5, 9]);
    clock.pass(999);
    await gateway.takeIn(0, 1);
    expect(withToken(await chat.hear())).toEqual([]);
    clock.pass(1);
    await gateway.takeIn(0, 1);
    expect(withToken(await chat.hear())).toEqual([11]);
  });
});

describe('a subscription to one auction', () => {
  it('gets nothing of other auctions, and nothing after it ended; new tokens do not contain it', async () => {
    const { gateway } = await openedWith([...logs('first', 0, refusedTimes(2)), ...logs('second')]);
    await gateway.takeIn(0, 2);
    const chat = await greeted(gateway);
    expect(typesOf(await chat.say('subscribe', { channel: 'auction', auction_id: FIRST }))).toEqual([
      'subscribed',
      'snapshot',
    ]);
    await gateway.takeIn(0, 1);
    expect(await chat.hear()).toMatchObject([{ auction_id: FIRST, timeline_seq: 3, kind: 'QUOTE_REJECTED' }]);
    const [unsubscribed, beat] = await chat.say('unsubscribe', { subscription_id: 's1' });
    expect(unsubscribed).toEqual({ type: 'unsubscribed', cmd_id: 'c3', subscription_id: 's1' });
    expect(pointOf(beat!).subscriptions).toEqual([]);
    await gateway.takeInAll();
    expect(await chat.hear()).toEqual([]);
  });

  it('waits for an auction that has not arrived yet, up to a limit', async () => {
    const { gateway } = await openedWith(logs('first'));
    const chat = await greeted(gateway);
    const subscription = { channel: 'auction', auction_id: FIRST };
    expect(await chat.say('subscribe', subscription)).toEqual([]);
    await gateway.takeInAll();
    expect(typesOf(await chat.hear())).toEqual(['subscribed', 'snapshot']);

    const late = await greeted((await openedWith(logs('first'))).gateway);
    expect(await late.say('subscribe', subscription)).toEqual([]);
    clock.pass(5_000);
    expect(await late.hear()).toMatchObject([
      { type: 'reject', status: 503, error: 'auction_owner_unavailable' },
    ]);
  });

  it('finds an auction that the feed has forgotten, and gets the remainder of its timeline', async () => {
    const ended = logs('first', 0, (story) => story.submits('mia').closes().awardsNobody('NO_QUOTES'));
    const { gateway, world } = await openedWith([...ended, ...[1, 2, 3].flatMap((n) => logs(`later ${n}`))], {
      history: 2,
      limits: { timelinePage: 2 },
    });
    await gateway.takeInAll();
    expect(gateway.feed.find(FIRST, mia)).toBeUndefined();
    const chat = await greeted(gateway);
    expect(await chat.say('subscribe', { channel: 'auction', auction_id: FIRST })).toMatchObject([
      { type: 'subscribed' },
      { type: 'snapshot', auctions: [{ auction_id: FIRST, phase: 'COMPLETED' }], more: false },
    ]);
    const heard = await chat.say('subscribe', { channel: 'auction', auction_id: FIRST, after_seq: 1 });
    const entries = heard.slice(2);
    expect(entries.map(({ timeline_seq: seq }) => seq)).toEqual(
      world
        .timelineOf(mia, FIRST)
        .slice(1)
        .map(({ seq }) => seq),
    );
    expect(pointOf(entries.at(-1)!).subscriptions).toMatchObject([
      { isComplete: true, isOver: true },
      { isComplete: true, isOver: true },
    ]);
  });

  it('is not refused if the auction ends and is forgotten between two look-ups', async () => {
    const ended = logs('first', 0, (story) => story.closes().awardsNobody('NO_QUOTES'));
    const { gateway, world } = await openedWith([...ended, ...[1, 2, 3].flatMap((n) => logs(`later ${n}`))], {
      history: 2,
    });
    await gateway.takeIn(0, 2);
    const events = world.events.bind(world);
    Object.assign(gateway.ports.archive, {
      events: async (...args: Parameters<typeof events>) => {
        const page = await events(...args);
        await gateway.takeInAll();
        return page;
      },
    });
    const chat = await greeted(gateway);
    const heard = await chat.say('subscribe', { channel: 'auction', auction_id: FIRST, after_seq: 2 });
    heard.push(...(await chat.hear()));
    expect(typesOf(heard).slice(0, 3)).toEqual(['subscribed', 'snapshot', 'event']);
    expect(heard.at(-1)).toMatchObject({ kind: 'AUCTION_COMPLETED' });
  });

  it('gets a long timeline no faster than it is read, and then live events', async () => {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(6_000)), { history: 10_000 });
    await gateway.takeIn(0, 5_990);
    const chat = await greeted(gateway, new TestSocket(true));
    const reading = chat.say('subscribe', { channel: 'auction', auction_id: FIRST, after_seq: 0 });
    await gateway.takeInAll();
    const events = (await reading).slice(2);
    expect(new Set(typesOf(events))).toEqual(new Set(['event']));
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 6_002 }, (_, index) => index + 1));
    expect(events.map(({ timeline_seq: seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  });

  it('gets a token with every hundredth entry of a long timeline, and can resume after it', async () => {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(400)));
    await gateway.takeInAll();
    const chat = await greeted(gateway);
    const heard = await chat.say('subscribe', { channel: 'auction', auction_id: FIRST, after_seq: 0 });
    const tokens = heard.slice(2).filter(({ resume_token: token }) => token !== undefined);
    expect(tokens.map(({ seq }) => seq)).toEqual([100, 200, 300, 400, 402]);
    const again = new Chat(gateway, mia);
    const [welcome, ...rest] = await again.say('hello', { resume_token: tokens[2]?.resume_token });
    expect(welcome).toMatchObject({ type: 'welcome', resumed: true });
    expect(rest.map(({ seq }) => seq)).toEqual(Array.from({ length: 102 }, (_, index) => index + 301));
  });

  it('is closed if the remainder of its timeline cannot be read, and gets it elsewhere', async () => {
    const { gateway, world } = await openedWith(logs('first', 0, refusedTimes(9)), {
      limits: { timelinePage: 4 },
    });
    await gateway.takeInAll();
    const events = world.events.bind(world);
    let isAway = false;
    Object.assign(gateway.ports.archive, {
      events: (...args: Parameters<typeof events>) =>
        isAway ? Promise.resolve({ status: 503, error: 'away' }) : events(...args),
    });
    const chat = await greeted(gateway);
    const subscribing = chat.say('subscribe', { channel: 'auction', auction_id: FIRST, after_seq: 0 });
    isAway = true;
    const [, snapshot, ...first] = await subscribing;
    expect(typesOf(first)).toEqual(Array<string>(4).fill('event'));
    for (let waited = 0; waited < 60; waited += 1) {
      clock.pass(50);
      await settled();
    }
    expect(chat.closedWith).toBe(4503);
    isAway = false;
    const again = new Chat(gateway, mia);
    const heard = await again.say('hello', { resume_token: snapshot?.resume_token, seen: { s1: 4 } });
    expect(typesOf(heard)).toEqual(['welcome', ...Array<string>(heard.length - 1).fill('event')]);
    expect(heard.slice(1).map(({ seq, timeline_seq: entry }) => [seq, entry])).toEqual(
      Array.from({ length: 7 }, (_, index) => [index + 5, index + 5]),
    );
  });

  it('is refused with the error of the first read of its timeline', async () => {
    const { gateway } = await openedWith(logs('first'));
    await gateway.takeInAll();
    Object.assign(gateway.ports.archive, {
      events: () => Promise.resolve({ status: 503, error: 'audit_timeline_incomplete' }),
    });
    const chat = await greeted(gateway);
    expect(await chat.say('subscribe', { channel: 'auction', auction_id: FIRST, after_seq: 0 })).toEqual([
      { type: 'reject', cmd_id: 'c2', status: 503, error: 'audit_timeline_incomplete' },
    ]);
  });
});

describe('the number of subscriptions', () => {
  it('is at most 64 at once', async () => {
    const { gateway } = await openedWith([], { limits: { subscribesPerSecond: 1_000 } });
    const chat = await greeted(gateway);
    for (let made = 0; made < 64; made += 1) {
      expect(typesOf(await chat.say('subscribe', { channel: 'auctions' }))).toEqual([
        'subscribed',
        'snapshot',
      ]);
    }
    expect(await chat.say('subscribe', { channel: 'auctions' })).toMatchObject([
      { type: 'reject', status: 429, error: 'stream_subscription_limit' },
    ]);
    await chat.say('unsubscribe', { subscription_id: 's7' });
    expect(await chat.say('subscribe', { channel: 'auctions' })).toMatchObject([
      { subscription_id: 's65' },
      {},
    ]);
  });

  it('grows by at most 50 a second: faster requests are answered later, in order', async () => {
    const { gateway } = await openedWith([]);
    const chat = await greeted(gateway);
    const subscribe = (): Promise<Heard[]> => chat.say('subscribe', { channel: 'auctions' });
    for (let made = 0; made < 50; made += 1) expect(typesOf(await subscribe())).toContain('subscribed');
    expect(await subscribe()).toEqual([]);
    expect(await subscribe()).toEqual([]);
    const [pong] = await chat.say('ping');
    expect(pong).toMatchObject({ type: 'pong' });
    clock.pass(20);
    const [next] = await chat.hear();
    expect(next).toMatchObject({ type: 'subscribed', subscription_id: 's51' });
    clock.pass(20);
    const [last] = await chat.hear();
    expect(last).toMatchObject({ type: 'subscribed', subscription_id: 's52' });
  });
});

describe('a slow reader', () => {
  const limits = { bufferedMessages: 8, tokenEvents: 1 };

  async function slow(
    options: GatewayOptions = {},
    channels = 1,
  ): Promise<{ chat: Chat; gateway: TestGateway }> {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(90)), {
      ...options,
      limits: { ...limits, ...options.limits },
    });
    const chat = await greeted(gateway, new TestSocket(true));
    for (let made = 0; made < channels; made += 1) await chat.say('subscribe', { channel: 'auctions' });
    return { chat, gateway };
  }

  it('gets the present state instead, and its numbers continue after what has left', async () => {
    const { chat, gateway } = await slow();
    await gateway.takeIn(0, 12);
    const heard = await chat.hear();
    expect(heard).toMatchObject([
      { type: 'event', seq: 1 },
      { type: 'heartbeat' },
      { type: 'resync', subscription_id: 's1', reason: 'SLOW_READER' },
      { type: 'snapshot', subscription_id: 's1', auctions: [{ view_version: 12 }] },
    ]);
    await gateway.takeIn(0, 1);
    expect(await chat.hear()).toMatchObject([{ seq: 2, timeline_seq: 13 }]);
  });

  it('gets no token for what was never sent', async () => {
    const { chat, gateway } = await slow();
    await gateway.takeIn(0, 3);
    clock.pass(10_000);
    chat.connection.tick();
    await gateway.takeIn(0, 9);
    const heard = await chat.hear();
    expect(typesOf(heard)).toEqual(['event', 'heartbeat', 'resync', 'snapshot']);
    expect(
      heard.map((one) => (one.resume_token === undefined ? [] : pointOf(one).subscriptions)),
    ).toMatchObject([
      [{ base: 0, sent: 1 }],
      [{ base: 1, sent: 0, isComplete: false }],
      [],
      [{ base: 1, sent: 0, isComplete: true }],
    ]);
  });

  it('is closed if it is slow again within ten seconds, but not after that', async () => {
    const { chat, gateway } = await slow();
    for (let time = 0; time < 3; time += 1) {
      await gateway.takeIn(0, 12);
      expect(typesOf(await chat.hear())).toEqual(['event', 'heartbeat', 'resync', 'snapshot']);
      clock.pass(10_000);
    }
    await gateway.takeIn(0, 12);
    clock.pass(9_999);
    expect(chat.closedWith).toBeUndefined();
    await gateway.takeIn(0, 12);
    expect(chat.closedWith).toBe(4431);
  });

  it('is not closed for output that was blocked by its session, even if it was slow just before', async () => {
    let isKnown = true;
    const checkOf = (token: string) => (): SessionOutcome<Caller> =>
      isKnown ? sessionOf(token) : 'unavailable';
    const { chat, gateway } = await slow({ ports: { sessions: { checkOf } } });
    await gateway.takeIn(0, 12);
    await chat.hear();
    isKnown = false;
    chat.connection.tick();
    for (let time = 0; time < 5; time += 1) await gateway.takeIn(0, 12);
    expect(chat.socket.waiting).toEqual([]);
    expect(chat.closedWith).toBeUndefined();
    isKnown = true;
    expect(typesOf(await chat.tick())).toEqual(['heartbeat', 'resync', 'snapshot']);
    await gateway.takeIn(0, 1);
    expect(await chat.hear()).toMatchObject([{ seq: 2, timeline_seq: 73 }]);
  });

  it('is closed at once if even the present state is too much', async () => {
    const { chat, gateway } = await slow({}, 5);
    await gateway.takeIn(0, 12);
    expect(chat.closedWith).toBe(4431);
  });

  it('still gets answers, until these are too much', async () => {
    const { chat, gateway } = await slow();
    await gateway.takeIn(0, 6);
    for (let sent = 0; sent < 4; sent += 1) chat.connection.onText(`{"type":"ping","cmd_id":"p${sent}"}`);
    const heard = typesOf(await chat.hear());
    expect(heard.filter((type) => type === 'pong')).toHaveLength(4);
    expect(heard.filter((type) => type === 'resync')).toHaveLength(1);
    expect(heard.filter((type) => type === 'event')).toHaveLength(1);
    clock.pass(10_000);
    for (let sent = 0; sent < 10; sent += 1) chat.connection.onText(`{"type":"ping","cmd_id":"p${sent}"}`);
    expect(chat.closedWith).toBe(4431);
  });

  it('gets the snapshot of a new subscription once, even if the reply itself overflowed its buffer', async () => {
    const { chat, gateway } = await slow();
    await gateway.takeIn(0, 8);
    expect(chat.socket.waiting).toHaveLength(1);
    chat.connection.onText('{"type":"subscribe","cmd_id":"again","channel":"auctions"}');
    await settled();
    const heard = await chat.hear();
    expect(heard.filter(({ type, subscription_id: id }) => type === 'snapshot' && id === 's2')).toHaveLength(
      1,
    );
    expect(heard.filter(({ type, subscription_id: id }) => type === 'resync' && id === 's2')).toHaveLength(1);
  });
});

describe('a resumed connection', () => {
  async function tokenAt(gateway: TestGateway, records: number): Promise<string> {
    await gateway.takeIn(0, records);
    const chat = await greeted(gateway);
    const heard = await chat.say('subscribe', { channel: 'auctions' });
    chat.connection.onClosed(1006);
    return String(heard.at(-1)?.resume_token);
  }

  it('gets more than a buffer holds, if it reads', async () => {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(6_000)), { history: 10_000 });
    const token = await tokenAt(gateway, 2);
    await gateway.takeInAll();
    const chat = new Chat(gateway, mia, new TestSocket(true));
    const [welcome, ...events] = await chat.say('hello', { resume_token: token });
    expect(welcome).toMatchObject({
      resumed: true,
      subscriptions: [{ subscription_id: 's1', channel: 'auctions' }],
    });
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 6_000 }, (_, index) => index + 1));
  });

  it('starts no subscription before it has got everything, but answers all other messages', async () => {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(100)), {
      limits: { bufferedMessages: 40 },
    });
    const token = await tokenAt(gateway, 2);
    await gateway.takeInAll();
    const chat = new Chat(gateway, mia, new TestSocket(true));
    chat.connection.onText(JSON.stringify({ type: 'hello', cmd_id: 'h', resume_token: token }));
    await settled();
    chat.connection.onText('{"type":"subscribe","cmd_id":"s","channel":"auctions"}');
    chat.connection.onText('{"type":"ping","cmd_id":"p"}');
    const types = typesOf(await chat.hear());
    expect(types.indexOf('pong')).toBeLessThan(20);
    expect(types.slice(-2)).toEqual(['subscribed', 'snapshot']);
    expect(types.filter((type) => type === 'event')).toHaveLength(100);
  });

  it('that claims impossible events gets the present state, and harms only its own numbers', async () => {
    const { gateway } = await openedWith(logs('first', 0, refusedTimes(5)));
    const token = await tokenAt(gateway, 2);
    await gateway.takeInAll();
    const resumed = async (seen: number): Promise<Heard[]> => {
      const chat = new Chat(gateway, mia);
      return chat.say('hello', { resume_token: token, seen: { s1: seen, s9: 5 } });
    };
    expect(typesOf(await resumed(900))).toEqual(['welcome', 'heartbeat', 'resync', 'snapshot']);
    expect((await resumed(Number.MAX_SAFE_INTEGER)).slice(1)).toMatchObject([
      { type: 'event', seq: 1 },
      { type: 'event', seq: 2 },
      { type: 'event', seq: 3 },
      { type: 'event', seq: 4 },
      { type: 'event', seq: 5 },
    ]);
  });

  it('gets the view of an ended and forgotten auction from the archive', async () => {
    const ended = logs('first', 0, (story) => story.closes().awardsNobody('NO_QUOTES'));
    const { gateway, world } = await openedWith([...ended, ...[1, 2, 3].flatMap((n) => logs(`later ${n}`))], {
      history: 2,
    });
    await gateway.takeIn(0, 2);
    const before = await greeted(gateway);
    const [, snapshot] = await before.say('subscribe', { channel: 'auction', auction_id: FIRST });
    await gateway.takeInAll();
    const chat = new Chat(gateway, mia);
    const hello = { resume_token: snapshot?.resume_token, seen: { s1: 900 } };
    expect(typesOf(await chat.say('hello', hello))).toEqual(['welcome']);
    clock.pass(5_000);
    expect(await chat.hear()).toMatchObject([
      { type: 'heartbeat' },
      { type: 'resync', reason: 'HISTORY_GONE' },
      { type: 'snapshot', auctions: [{ auction_id: FIRST, phase: 'COMPLETED' }] },
    ]);
    Object.assign(world, { view: () => Promise.resolve({ status: 503, error: 'away' }) });
    const other = new Chat(gateway, mia);
    await other.say('hello', hello);
    clock.pass(5_000);
    await other.hear();
    expect(other.closedWith).toBe(4503);
  });
});
