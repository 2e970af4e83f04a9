import type { Caller } from '#libs/edge/endpoint.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Chat, greetedChat, openGateway, rejected } from '../fixtures/chat.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { sessionOf } from '../fixtures/test-gateway.js';
import type { SessionOutcome } from '#libs/socket/session-guard.js';
import type { CommandCall } from '../ports.js';

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

describe('a command', () => {
  it('runs for the session and the connection, and is answered with its result', async () => {
    const calls: CommandCall[] = [];
    const run = (call: CommandCall): Promise<{ status: number; body: string }> => {
      calls.push(call);
      return Promise.resolve({ status: 201, body: '{"quote_id":"q"}' });
    };
    const chat = new Chat(await openGateway(clock, { ports: { commands: { run } } }), 'mia');
    const { connection_id: connectionId } = await chat.hello();
    expect(await chat.say('quote.submit', { auction_id: 'a', price_atoms: 5 })).toEqual([
      { type: 'ack', cmd_id: 'c2', status: 201, result: { quote_id: 'q' } },
    ]);
    expect(calls).toMatchObject([
      {
        name: 'quote.submit',
        fields: { auction_id: 'a', price_atoms: 5 },
        principal: { account_id: 'mia' },
        connectionId,
      },
    ]);
    expect(Object.keys(calls[0]!.fields)).toEqual(['auction_id', 'price_atoms']);
  });

  it.each([
    [
      { status: 204, body: '' },
      { type: 'ack', status: 204, result: {} },
    ],
    [
      { status: 422, body: '{"error":"AUCTION_NOT_OPEN","message":"It is not."}' },
      { type: 'reject', status: 422, error: 'AUCTION_NOT_OPEN', message: 'It is not.' },
    ],
    [
      { status: 409, body: '{"error":"quote_already_active"}' },
      { type: 'reject', status: 409 },
    ],
  ])('that ends with %j is answered so', async (answer, heard) => {
    const chat = await greetedChat(clock, { ports: { commands: { run: () => Promise.resolve(answer) } } });
    expect(await chat.say('auction.cancel')).toMatchObject([{ cmd_id: 'c2', ...heard }]);
  });

  it('before `bye` is answered before it', async () => {
    let answer: () => void = () => undefined;
    const run = (): Promise<{ status: number; body: string }> =>
      new Promise((resolve) => {
        answer = () => resolve({ status: 200, body: '{}' });
      });
    const chat = await greetedChat(clock, { ports: { commands: { run } } });
    expect(await chat.say('quote.revise')).toEqual([]);
    expect(await chat.say('bye')).toEqual([]);
    expect(await chat.say('ping')).toEqual([]);
    expect(chat.closedWith).toBeUndefined();
    answer();
    expect(await chat.hear()).toMatchObject([
      { type: 'ack', cmd_id: 'c2' },
      { type: 'ack', cmd_id: 'c3' },
    ]);
    expect(chat.closedWith).toBe(1000);
  });

  it('that fails is answered 500, and the connection goes on', async () => {
    const gateway = await openGateway(clock, {
      ports: { commands: { run: () => Promise.reject(new Error('no')) } },
    });
    const chat = new Chat(gateway, 'mia');
    await chat.hello();
    expect(await chat.say('quote.withdraw')).toEqual([rejected(500, 'internal_error', 'c2')]);
    expect(gateway.faults).toHaveLength(1);
    expect(await chat.say('ping')).toMatchObject([{ type: 'pong' }]);
  });

  it.each([
    ['unauthorized' as const, [], 4401],
    [
      'unavailable' as const,
      [{ type: 'reject', status: 503, error: 'owner_routing_unavailable' }],
      undefined,
    ],
  ])('is not run under a session that is %s', async (outcome, heard, code) => {
    let runs = 0;
    const run = (): Promise<never> => {
      runs += 1;
      return Promise.reject(new Error('it was run'));
    };
    let current: SessionOutcome<Caller> = sessionOf('mia');
    const chat = await greetedChat(clock, {
      ports: { commands: { run }, sessions: { checkOf: () => () => current } },
    });
    current = outcome;
    expect(await chat.say('quote.submit')).toMatchObject(heard);
    expect([chat.closedWith, runs]).toEqual([code, 0]);
  });

  it('is not run for a connection that ended while its session was checked', async () => {
    let runs = 0;
    const run = (): Promise<never> => {
      runs += 1;
      return Promise.reject(new Error('it was run'));
    };
    const check = (): Promise<SessionOutcome<Caller>> => Promise.resolve(sessionOf('mia'));
    const chat = await greetedChat(clock, {
      ports: { commands: { run }, sessions: { checkOf: () => check } },
    });
    chat.connection.onText('{"type":"quote.submit","cmd_id":"a"}');
    chat.connection.onClosed(1006);
    await settled();
    expect(runs).toBe(0);
  });

  it('waits, with all later messages, while too many commands are running', async () => {
    const answers: (() => void)[] = [];
    const run = (): Promise<{ status: number; body: string }> =>
      new Promise((resolve) => {
        answers.push(() => {
          resolve({ status: 200, body: '{}' });
        });
      });
    const chat = await greetedChat(clock, { limits: { requestsInFlight: 2 }, ports: { commands: { run } } });
    for (let sent = 0; sent < 5; sent += 1) {
      chat.connection.onText(JSON.stringify({ type: 'quote.submit', cmd_id: `q${sent}` }));
    }
    chat.connection.onText('{"type":"ping","cmd_id":"p"}');
    await settled();
    expect([answers.length, chat.socket.isPaused]).toEqual([2, true]);
    answers[0]!();
    expect(await chat.hear()).toMatchObject([{ cmd_id: 'q0' }]);
    expect([answers.length, chat.socket.isPaused]).toEqual([3, true]);
    for (const answer of answers) answer();
    await settled();
    for (const answer of answers) answer();
    const rest = (await chat.hear()).map(({ cmd_id: id }) => id);
    expect(rest.slice(0, 2)).toEqual(['q1', 'q2']);
    expect([...rest].sort()).toEqual(['p', 'q1', 'q2', 'q3', 'q4']);
    expect(chat.socket.isPaused).toBe(false);
  });
});
