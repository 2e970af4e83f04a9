import { resumePoints } from '../resume-point.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/base/instant.js';
import { Chat, greetedChat, openGateway, rejected } from '../fixtures/chat.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TEST_KEY, TEST_LIFE } from '../fixtures/test-gateway.js';
import { TestSocket } from '#libs/socket/fixtures/test-socket.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';

const DAY = 86_400_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

describe('hello', () => {
  it("is answered with the connection's id and its limits", async () => {
    const chat = new Chat(await openGateway(clock), 'mia');
    expect(await chat.say('hello')).toEqual([
      {
        type: 'welcome',
        cmd_id: 'c1',
        connection_id: expect.stringMatching(UUID),
        server_time: instantFromNanos(clock.epochNanos()),
        session_expires_at: instantFromNanos(4_000_000_000n * 1_000_000_000n),
        heartbeat_ms: 10_000,
        resumed: false,
        subscriptions: [],
      },
    ]);
  });

  it('must come first: any other message ends the connection', async () => {
    const gateway = await openGateway(clock);
    for (const type of ['ping', 'subscribe', 'quote.submit', 'welcome', '']) {
      const chat = new Chat(gateway, 'mia');
      expect(await chat.say(type)).toEqual([]);
      expect(chat.closedWith).toBe(4400);
    }
  });

  it('may come only once', async () => {
    const chat = await greetedChat(clock);
    expect(await chat.say('hello')).toEqual([rejected(400, 'invalid_request', 'c2')]);
    expect(chat.closedWith).toBeUndefined();
  });

  it.each([
    [{ resume_token: 1 }, 'invalid_json'],
    [{ seen: { s1: -1 } }, 'invalid_json'],
    [{ seen: Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`s${n}`, 1])) }, 'invalid_json'],
    [{ cancel_on_disconnect: {} }, 'invalid_json'],
    [{ anything: true }, 'invalid_json'],
    [{ cancel_on_disconnect: { grace_ms: 30_001 } }, 'invalid_request'],
  ])('may be sent again if it was invalid: %j', async (hello, error) => {
    const chat = new Chat(await openGateway(clock), 'mia');
    expect(await chat.say('hello', hello)).toEqual([rejected(400, error)]);
    expect(await chat.say('hello', { cancel_on_disconnect: { grace_ms: 30_000 } })).toMatchObject([
      { type: 'welcome', cmd_id: 'c2' },
    ]);
  });

  it('must come within ten seconds', async () => {
    const chat = new Chat(await openGateway(clock), 'mia');
    clock.pass(9_999);
    await chat.say('hello', { anything: true });
    await chat.tick();
    expect(chat.closedWith).toBeUndefined();
    clock.pass(1);
    await chat.tick();
    expect(chat.closedWith).toBe(4400);
  });

  it('delays the messages sent before its answer, keeps their order, and pauses the socket', async () => {
    const chat = new Chat(await openGateway(clock), 'mia');
    for (const frame of ['hello', 'subscribe', 'ping']) {
      const fields = frame === 'subscribe' ? { channel: 'auctions' } : {};
      chat.connection.onText(JSON.stringify({ type: frame, cmd_id: frame, ...fields }));
    }
    expect(chat.socket.isPaused).toBe(true);
    const heard = (await chat.hear()).map(({ type }) => type);
    expect(heard[0]).toBe('welcome');
    expect(heard.slice(1).sort()).toEqual(['pong', 'snapshot', 'subscribed']);
    expect(chat.socket.isPaused).toBe(false);
  });

  it.each([
    ['INVALID', new ResumeTokens(['22'.repeat(32)], resumePoints, TEST_LIFE)],
    ['EXPIRED', new ResumeTokens([TEST_KEY], resumePoints, TEST_LIFE)],
  ])('starts a new connection if its token is %s', async (error, tokens) => {
    const chat = new Chat(await openGateway(clock), 'mia');
    const now = Number(clock.epochNanos() / 1_000_000n);
    const point = {
      connectionId: '',
      attachment: 0,
      positions: [],
      tokenlessShard: 0,
      nextNumber: 1,
      subscriptions: [],
    };
    const sealed = tokens.seal(point, 'mia', now - DAY - 1);
    expect(await chat.hello({ resume_token: sealed })).toMatchObject({
      resumed: false,
      resume_error: error,
      subscriptions: [],
    });
  });

  it('waits for a gateway that lags, and closes the connection if that takes too long', async () => {
    const ahead = await greetedChat(clock);
    await ahead.say('subscribe', { channel: 'auctions' });
    const tokens = new ResumeTokens([TEST_KEY], resumePoints, TEST_LIFE);
    const now = Number(clock.epochNanos() / 1_000_000n);
    const point = {
      connectionId: '5f0c6d1e-0000-4000-8000-000000000001',
      attachment: 1,
      positions: [9, 0, 0],
    };
    const resume_token = tokens.seal(
      { ...point, tokenlessShard: 0, nextNumber: 1, subscriptions: [] },
      'mia',
      now,
    );
    const chat = new Chat(await openGateway(clock), 'mia');
    expect(await chat.say('hello', { resume_token })).toEqual([]);
    clock.pass(4_999);
    await chat.tick();
    expect(chat.closedWith).toBeUndefined();
    clock.pass(1);
    await chat.hear();
    expect(chat.closedWith).toBe(4503);
  });

  it('is limited by the buffer of unread answers', async () => {
    const chat = new Chat(
      await openGateway(clock, { limits: { bufferedMessages: 20 } }),
      'mia',
      new TestSocket(true),
    );
    for (let sent = 0; sent < 30; sent += 1) {
      chat.connection.onText(JSON.stringify({ type: 'hello', cmd_id: `c${sent}`, anything: true }));
    }
    expect(chat.closedWith).toBe(4431);
  });
});
