import { beforeEach, describe, expect, it } from '@jest/globals';
import { greetedChat, rejected } from '../fixtures/chat.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

describe('a message', () => {
  it.each([
    'no JSON',
    '{"type":"ping"}',
    '{"type":"ping","cmd_id":""}',
    '{"type":"ping","cmd_id":7}',
    `{"type":"ping","cmd_id":"${'x'.repeat(65)}"}`,
    '{"type":"ping","cmd_id":"a\\u0000"}',
    '{"type":"ping","cmd_id":"a"} {}',
  ])('without a usable cmd_id ends the connection: %s', async (frame) => {
    const chat = await greetedChat(clock);
    expect(await chat.send(frame)).toEqual([]);
    expect(chat.closedWith).toBe(4400);
  });

  it('in a binary frame ends the connection', async () => {
    const chat = await greetedChat(clock);
    chat.connection.onBinary();
    expect(chat.closedWith).toBe(4400);
    expect(await chat.say('ping')).toEqual([]);
  });

  it.each([
    '{"type":"ping","cmd_id":"c1","x":1}',
    '{"type":"ping","type":"ping","cmd_id":"c1"}',
    '{"type":"nothing","cmd_id":"c1"}',
    '{"type":7,"cmd_id":"c1"}',
    '{"cmd_id":"c1"}',
    '{"type":"constructor","cmd_id":"c1"}',
    '{"type":"subscribe","cmd_id":"c1"}',
    '{"type":"subscribe","cmd_id":"c1","channel":"all"}',
    '{"type":"subscribe","cmd_id":"c1","channel":"auction"}',
    '{"type":"subscribe","cmd_id":"c1","channel":"auctions","after_seq":0}',
    '{"type":"subscribe","cmd_id":"c1","channel":"auctions","auction_id":"x"}',
    '{"type":"unsubscribe","cmd_id":"c1"}',
    '{"type":"auth.refresh","cmd_id":"c1"}',
    '{"type":"bye","cmd_id":"c1","why":"x"}',
  ])('that breaks the documented form is refused: %s', async (frame) => {
    const chat = await greetedChat(clock);
    expect(await chat.send(frame)).toEqual([rejected(400, 'invalid_json')]);
    expect(chat.closedWith).toBeUndefined();
  });

  it.each([
    ['unsubscribe', { subscription_id: 's1' }, 404, 'not_found'],
    ['subscribe', { channel: 'auction', auction_id: 'x' }, 400, 'invalid_auction_id'],
    [
      'subscribe',
      { channel: 'auction', auction_id: '3a000000-0000-8000-8000-000000000001' },
      400,
      'invalid_auction_id',
    ],
    [
      'subscribe',
      { channel: 'auction', auction_id: '0a000000-0000-8000-8000-000000000001' },
      404,
      'auction_not_found',
    ],
    [
      'subscribe',
      { channel: 'auction', auction_id: '0a000000-0000-8000-8000-000000000001', after_seq: 0 },
      404,
      'auction_not_found',
    ],
  ])('about an unknown thing is refused: %s %j', async (type, fields, status, error) => {
    const chat = await greetedChat(clock);
    expect(await chat.say(type, fields)).toEqual([rejected(status, error, 'c2')]);
  });

  it('is answered with its own cmd_id of up to 64 characters', async () => {
    const chat = await greetedChat(clock);
    const cmd_id = 'ü'.repeat(64);
    expect(await chat.send(JSON.stringify({ type: 'ping', cmd_id }))).toEqual([{ type: 'pong', cmd_id }]);
  });
});
