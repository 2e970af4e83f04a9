import type { Caller } from '#libs/edge/endpoint.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/base/instant.js';
import { greetedChat, openGateway } from '../fixtures/chat.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { sessionOf, type GatewayOptions } from '../fixtures/test-gateway.js';
import { TestSocket } from '#libs/socket/fixtures/test-socket.js';
import type { SessionCheck, SessionOutcome } from '#libs/socket/session-guard.js';
import { openConnection } from './conversation.js';

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

describe('a session', () => {
  const now = (): number => Number(clock.epochNanos() / 1_000_000_000n);

  function sessions(): {
    outcome: SessionOutcome<Caller> | Promise<SessionOutcome<Caller>>;
    options: GatewayOptions;
  } {
    const changing = {
      outcome: sessionOf('mia', now() + 100) as SessionOutcome<Caller> | Promise<SessionOutcome<Caller>>,
      options: {},
    };
    changing.options = { ports: { sessions: { checkOf: () => () => changing.outcome } } };
    return changing;
  }

  it('is announced to end one minute before, once, and then its end closes the connection', async () => {
    const chat = await greetedChat(clock, sessions().options);
    await chat.tick();
    clock.pass(39_000);
    chat.connection.onAlive();
    expect((await chat.tick()).map(({ type }) => type)).toEqual(['heartbeat']);
    clock.pass(1_000);
    expect(await chat.tick()).toEqual([
      { type: 'session_expiring', session_expires_at: instantFromNanos(BigInt(now() + 60) * 1_000_000_000n) },
    ]);
    expect(await chat.tick()).toEqual([]);
    for (let passed = 0; passed < 59; passed += 1) {
      clock.pass(1_000);
      chat.connection.onAlive();
      await chat.tick();
    }
    expect(chat.closedWith).toBeUndefined();
    clock.pass(1_000);
    chat.connection.onAlive();
    await chat.tick();
    expect(chat.closedWith).toBe(4401);
  });

  it('that is revoked closes the connection at the next check', async () => {
    const { options, ...rest } = sessions();
    const changing = Object.assign(rest, { options });
    const check = (): SessionOutcome<Caller> | Promise<SessionOutcome<Caller>> => changing.outcome;
    const chat = await greetedChat(clock, { ports: { sessions: { checkOf: () => check } } });
    await chat.tick();
    expect(chat.closedWith).toBeUndefined();
    changing.outcome = Promise.resolve('unauthorized');
    await chat.tick();
    await chat.tick();
    expect(chat.closedWith).toBe(4401);
  });

  it('that cannot be checked blocks all output but keeps the connection; later all comes in order', async () => {
    const changing = sessions();
    const chat = await greetedChat(clock, changing.options);
    for (const unknown of ['unavailable' as const, Promise.reject(new Error('away'))]) {
      changing.outcome = unknown;
      await chat.tick();
      await chat.tick();
      expect(await chat.say('ping')).toEqual([]);
      expect(await chat.say('quote.submit')).toEqual([]);
      changing.outcome = sessionOf('mia', now() + 100);
      expect(await chat.tick()).toMatchObject([{ type: 'pong' }, { type: 'reject', status: 503 }]);
    }
    expect(chat.closedWith).toBeUndefined();
  });

  /** A connection whose first session check is `check`, and that sends hello. */
  async function greeted(check: SessionCheck<Caller>, expiresAt = Number.MAX_SAFE_INTEGER) {
    const faults: unknown[] = [];
    const gateway = await openGateway(clock, {
      ports: { sessions: { checkOf: () => check }, onFault: (error) => faults.push(error) },
    });
    const socket = new TestSocket();
    const connection = openConnection(gateway.ports, socket, {
      token: 'mia',
      session: sessionOf('mia', expiresAt),
    });
    connection.tick();
    connection.onText('{"type":"hello","cmd_id":"a"}');
    await settled();
    return { connection, socket, faults };
  }

  it('that had to be checked is known in the welcome', async () => {
    const { socket } = await greeted(() => Promise.resolve(sessionOf('mia', now() + 100)));
    expect(JSON.parse(socket.read() ?? '')).toMatchObject({
      session_expires_at: instantFromNanos(BigInt(now() + 100) * 1_000_000_000n),
    });
  });

  it('that cannot be checked at the hello delays the welcome until it can', async () => {
    const changing = { outcome: (): Promise<SessionOutcome<Caller>> => Promise.reject(new Error('away')) };
    const { connection, socket, faults } = await greeted(() => changing.outcome());
    for (let round = 0; round < 3; round += 1) {
      expect(socket.read()).toBeUndefined();
      connection.tick();
      await settled();
    }
    changing.outcome = () => Promise.resolve(sessionOf('mia', now() + 100));
    for (let round = 0; round < 3; round += 1) {
      connection.tick();
      await settled();
    }
    expect(JSON.parse(socket.read() ?? '')).toMatchObject({
      type: 'welcome',
      session_expires_at: instantFromNanos(BigInt(now() + 100) * 1_000_000_000n),
    });
    expect(faults).toEqual([]);
  });

  it.each([
    ['while its end was unknown', Number.MAX_SAFE_INTEGER],
    ['with its end known', 4_000_000_000],
  ])('that has ended by the time of the hello gets no welcome, %s', async (_, expiresAt) => {
    const { socket, faults } = await greeted(() => Promise.resolve('unauthorized'), expiresAt);
    expect([socket.read(), socket.closedWith, faults]).toEqual([undefined, 4401, []]);
  });

  it('with an unreadable expiry ends only its own connection', async () => {
    const { socket, faults } = await greeted(() => sessionOf('mia', Number.MAX_SAFE_INTEGER));
    expect(socket.closedWith).toBe(4503);
    expect(faults).toHaveLength(1);
  });

  it.each([
    ['refreshed', sessionOf('mia', 4_000_000_001), { type: 'ack', status: 200 }],
    ['of another account', sessionOf('max'), { type: 'reject', status: 403, error: 'forbidden' }],
    ['over', 'unauthorized' as const, { type: 'reject', status: 401, error: 'unauthorized' }],
    ['unknown', 'unavailable' as const, { type: 'reject', status: 503, error: 'owner_routing_unavailable' }],
  ])('is asked to refresh with a token that is %s', async (_, outcome, answer) => {
    const checkOf = (token: string) => (): SessionOutcome<Caller> | Promise<SessionOutcome<Caller>> =>
      token === 'newer' ? Promise.resolve(outcome) : sessionOf('mia');
    const chat = await greetedChat(clock, { ports: { sessions: { checkOf } } });
    expect(await chat.say('auth.refresh', { token: 'newer' })).toMatchObject([{ cmd_id: 'c2', ...answer }]);
    expect(chat.closedWith).toBeUndefined();
  });

  it('that was refreshed outlives the earlier token, and its end is announced again', async () => {
    const first = sessionOf('mia', now() + 70);
    const second = sessionOf('mia', now() + 200);
    const chat = await greetedChat(clock, {
      ports: { sessions: { checkOf: (token) => () => (token === 'mia' ? first : second) } },
    });
    clock.pass(20_000);
    expect((await chat.tick()).map(({ type }) => type)).toContain('session_expiring');
    expect(await chat.say('auth.refresh', { token: 'newer' })).toEqual([
      {
        type: 'ack',
        cmd_id: 'c2',
        status: 200,
        result: { session_expires_at: instantFromNanos(BigInt(second.expiresAt) * 1_000_000_000n) },
      },
    ]);
    for (let passed = 0; passed < 130; passed += 10) {
      clock.pass(10_000);
      chat.connection.onAlive();
      await chat.tick();
    }
    expect(chat.closedWith).toBeUndefined();
  });
});
