import { beforeEach, describe, expect, it } from '@jest/globals';
import { instantFromNanos } from '#libs/base/instant.js';
import { greetedChat } from '../fixtures/chat.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

describe('heartbeats', () => {
  it('come every ten seconds, with a token', async () => {
    const chat = await greetedChat(clock);
    clock.pass(9_999);
    expect(await chat.tick()).toEqual([]);
    clock.pass(1);
    expect(await chat.tick()).toEqual([
      {
        type: 'heartbeat',
        server_time: instantFromNanos(clock.epochNanos()),
        resume_token: expect.any(String),
      },
    ]);
    expect(chat.socket.pings).toBe(1);
    expect(await chat.tick()).toEqual([]);
  });

  it('end the connection after three without a sign of life; a pong is one', async () => {
    const chat = await greetedChat(clock);
    clock.pass(29_999);
    chat.connection.onAlive();
    clock.pass(29_999);
    await chat.tick();
    expect(chat.closedWith).toBeUndefined();
    clock.pass(1);
    await chat.tick();
    expect(chat.closedWith).toBe(4408);
  });

  it('do not end a connection whose socket is paused', async () => {
    let answer: () => void = () => undefined;
    const run = (): Promise<{ status: number; body: string }> =>
      new Promise((resolve) => {
        answer = () => {
          resolve({ status: 200, body: '{}' });
        };
      });
    const chat = await greetedChat(clock, { limits: { requestsInFlight: 1 }, ports: { commands: { run } } });
    await chat.say('quote.submit');
    expect(chat.socket.isPaused).toBe(true);
    clock.pass(60_000);
    await chat.tick();
    expect(chat.closedWith).toBeUndefined();
    answer();
    await settled();
    clock.pass(29_999);
    await chat.tick();
    expect(chat.closedWith).toBeUndefined();
    clock.pass(1);
    await chat.tick();
    expect(chat.closedWith).toBe(4408);
  });
});
