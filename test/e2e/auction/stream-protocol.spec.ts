import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import { SHARED_HEARTBEAT_MS } from '#libs/testing/cluster/shared-cluster.js';
import { streamFloor, type StreamFloor } from '../stream-floor.js';
import { auctionBody, INSTANT, type Trader, UUID } from '../trading-floor.js';

const LARGEST_FRAME = 64 * 1024;
const BAD_MESSAGE = 4400;

jest.setTimeout(40_000);

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
let auctionId: string;

beforeAll(async () => {
  floor = await streamFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
  const opened = await originator.opens(auctionBody(floor.contract('venue_c', 5), [maker]));
  auctionId = opened.auction_id;
}, 60_000);

afterAll(async () => {
  await originator.cancel(auctionId);
  floor.close();
});

function join(name = maker.name): Promise<StreamClient> {
  return floor.listen(name);
}

describe('hello', () => {
  it("is answered with the account, the session's end and the heartbeat interval", async () => {
    const client = await floor.open({ token: await floor.token(maker.name) });
    const welcome = await client.hello();
    expect(welcome).toEqual({
      type: 'welcome',
      cmd_id: expect.any(String),
      connection_id: expect.stringMatching(UUID),
      server_time: expect.stringMatching(INSTANT),
      session_expires_at: expect.stringMatching(INSTANT),
      heartbeat_ms: SHARED_HEARTBEAT_MS,
      resumed: false,
      subscriptions: [],
    });
    expect(Math.abs(Date.parse(welcome.server_time) - Date.now())).toBeLessThan(5_000);
    expect(Date.parse(welcome.session_expires_at)).toBeGreaterThan(Date.now());
  });

  it('may be sent once', async () => {
    const client = await join();
    expect(await client.ask('hello')).toMatchObject({
      type: 'reject',
      status: 400,
      error: 'invalid_request',
    });
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
  });

  it('may be followed by other messages at once, which are answered after it', async () => {
    const client = await floor.open({ token: await floor.token(maker.name) });
    client.say({ type: 'hello', cmd_id: 'a' });
    client.say({ type: 'ping', cmd_id: 'b' });
    client.say({ type: 'subscribe', cmd_id: 'c', channel: 'auctions' });
    await client.untilType('snapshot');
    expect(client.frames.map(({ type }) => type)).toEqual(['welcome', 'pong', 'subscribed', 'snapshot']);
  });

  it.each<[string, object, string]>([
    ['a grace above 30 s', { cancel_on_disconnect: { grace_ms: 30_001 } }, 'invalid_request'],
    ['a grace below 0', { cancel_on_disconnect: { grace_ms: -1 } }, 'invalid_json'],
    ['a grace that is not an integer', { cancel_on_disconnect: { grace_ms: 1.5 } }, 'invalid_json'],
    ['no grace at all', { cancel_on_disconnect: {} }, 'invalid_json'],
    ['an unknown field', { cancel_on_disconnect: { grace_ms: 1, more: 1 } }, 'invalid_json'],
    ['a token that is not text', { resume_token: 1 }, 'invalid_json'],
    ['positions that are not numbers', { seen: { s1: '1' } }, 'invalid_json'],
    ['a null', { resume_token: null }, 'invalid_json'],
  ])('with %s is refused, and may be sent again', async (_, fields, error) => {
    const client = await floor.open({ token: await floor.token(maker.name) });
    expect(await client.ask('hello', { ...fields })).toMatchObject({ type: 'reject', status: 400, error });
    expect((await client.hello()).resumed).toBe(false);
  });

  it.each(['ping', 'subscribe', 'quote.submit', 'bye', 'anything'])(
    'must come first, not %s',
    async (type) => {
      const client = await floor.open({ token: await floor.token(maker.name) });
      client.say({ type, cmd_id: 'x' });
      expect((await client.untilClosed()).code).toBe(BAD_MESSAGE);
      expect(client.frames).toEqual([]);
    },
  );
});

describe('a message that cannot be carried out', () => {
  const submit = (fields: object): object => ({
    ...{ type: 'quote.submit', idempotency_key: 'k', auction_id: '' },
    ...{ price_atoms: 1, quantity_atoms: 1 },
    ...fields,
  });

  it.each<[string, () => object | string, string]>([
    ['an unknown type', () => ({ type: 'sing' }), '400 invalid_json'],
    ['no type', () => ({}), '400 invalid_json'],
    ['a type that is not text', () => ({ type: 1 }), '400 invalid_json'],
    ['an unknown field', () => ({ type: 'ping', more: 1 }), '400 invalid_json'],
    ['a null', () => ({ type: 'ping', more: null }), '400 invalid_json'],
    ['a key twice', () => '{"type":"ping","cmd_id":"x","cmd_id":"x"}', '400 invalid_json'],
    ['an unknown channel', () => ({ type: 'subscribe', channel: 'trades' }), '400 invalid_json'],
    ['no channel', () => ({ type: 'subscribe' }), '400 invalid_json'],
    ['one auction without its id', () => ({ type: 'subscribe', channel: 'auction' }), '400 invalid_json'],
    [
      'all auctions with an id',
      () => ({ type: 'subscribe', channel: 'auctions', auction_id: auctionId }),
      '400 invalid_json',
    ],
    [
      'all auctions after a seq',
      () => ({ type: 'subscribe', channel: 'auctions', after_seq: 0 }),
      '400 invalid_json',
    ],
    [
      'a malformed id',
      () => ({ type: 'subscribe', channel: 'auction', auction_id: 'x' }),
      '400 invalid_auction_id',
    ],
    [
      'an id in upper case',
      () => ({ type: 'subscribe', channel: 'auction', auction_id: auctionId.toUpperCase() }),
      '400 invalid_auction_id',
    ],
    [
      'an auction that never existed',
      () => ({ type: 'subscribe', channel: 'auction', auction_id: `${auctionId.slice(0, -12)}000000000000` }),
      '404 auction_not_found',
    ],
    [
      'a seq below 0',
      () => ({ type: 'subscribe', channel: 'auction', auction_id: auctionId, after_seq: -1 }),
      '400 invalid_json',
    ],
    ['an unknown subscription', () => ({ type: 'unsubscribe', subscription_id: 's9' }), '404 not_found'],
    ['no subscription', () => ({ type: 'unsubscribe' }), '400 invalid_json'],
    ['a refresh without a token', () => ({ type: 'auth.refresh' }), '400 invalid_json'],
    ['a refresh with a broken token', () => ({ type: 'auth.refresh', token: 'x' }), '401 unauthorized'],
    ['a command without its auction', () => submit({ auction_id: undefined }), '400 invalid_json'],
    ['a command with a malformed id', () => submit({ auction_id: 'x' }), '400 invalid_auction_id'],
    ['too deep nesting', () => nested(65), '400 invalid_json'],
  ])('is rejected as over HTTP: %s', async (_, message, expected) => {
    const client = await join();
    const given = message();
    const text = typeof given === 'string' ? given : JSON.stringify({ cmd_id: 'x', ...given });
    client.sayText(text);
    const reply = await client.until('the reply', (frame) => 'cmd_id' in frame && frame.cmd_id === 'x');
    expect(reply).toEqual({
      type: 'reject',
      cmd_id: 'x',
      status: Number(expected.slice(0, 3)),
      error: expected.slice(4),
    });
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
  });

  it('is rejected for the missing capability before its content is checked', async () => {
    const client = await join('viewer-1');
    for (const type of [
      'quote.submit',
      'quote.revise',
      'quote.withdraw',
      'quote.withdraw_all',
      'quote.preflight',
      'auction.cancel',
    ])
      expect(await client.ask(type)).toMatchObject({ type: 'reject', status: 403, error: 'forbidden' });
  });

  it('every reply repeats the cmd_id as it was given', async () => {
    const client = await join();
    for (const cmdId of ['1', ' ~!"\\/', 'é'.repeat(64), '日本語', '{"a":1}'])
      expect(await client.ask('ping', {}, cmdId)).toEqual({ type: 'pong', cmd_id: cmdId });
  });
});

describe('bytes that are not a message', () => {
  const ping = '{"type":"ping","cmd_id":"x"}';

  it.each<[string, string | Buffer]>([
    ['no JSON', 'hello'],
    ['nothing', ''],
    ['two values', `${ping}${ping}`],
    ['an array', `[${ping}]`],
    ['a number', '1'],
    ['a null', 'null'],
    ['no cmd_id', '{"type":"ping"}'],
    ['an empty cmd_id', '{"type":"ping","cmd_id":""}'],
    ['a cmd_id that is too long', `{"type":"ping","cmd_id":"${'x'.repeat(65)}"}`],
    ['a cmd_id that is not printable', '{"type":"ping","cmd_id":"a\\nb"}'],
    ['a cmd_id that is not text', '{"type":"ping","cmd_id":1}'],
  ])('ends the stream with 4400: %s', async (_, text) => {
    const client = await join();
    client.sayText(text);
    expect((await client.untilClosed()).code).toBe(BAD_MESSAGE);
    expect(client.frames.map(({ type }) => type)).toEqual(['welcome']);
  });

  it('ends the stream with 4400 if it is binary, even with the content of a message', async () => {
    const client = await join();
    client.sayBinary(Buffer.from(ping));
    expect((await client.untilClosed()).code).toBe(BAD_MESSAGE);
  });

  it('ends the stream with 1007 if it is not UTF-8', async () => {
    const client = await join();
    client.sayText(
      Buffer.concat([Buffer.from('{"type":"ping","cmd_id":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]),
    );
    expect((await client.untilClosed()).code).toBe(1007);
  });

  it('ends the stream with 1002 if it is not a frame, or not masked', async () => {
    const unmasked = Buffer.from([0x81, 0x02, 0x7b, 0x7d]);
    for (const bytes of [unmasked, Buffer.from('GET / HTTP/1.1\r\n\r\n')]) {
      const client = await join();
      client.write(bytes);
      expect((await client.untilClosed()).code).toBe(1002);
    }
  });

  it('ends the stream with 1008 if it never ends', async () => {
    const client = await join();
    const fragment = (opcode: number) => Buffer.from([opcode, 0x80, 0, 0, 0, 0]);
    client.write(Buffer.concat([fragment(0x01), ...Array.from({ length: 20_000 }, () => fragment(0x00))]));
    expect((await client.untilClosed()).code).toBe(1008);
  });

  it('does not end the stream for any number of pings: the last of a group is answered', async () => {
    const client = await join();
    const ping = (text: string) => Buffer.from([0x89, 0x80 | text.length, 0, 0, 0, 0, ...Buffer.from(text)]);
    client.write(Buffer.concat(Array.from({ length: 2_000 }, (_, n) => ping(`ping ${n}`))));
    await eventually(() => expect(client.pongs.at(-1)).toBe('ping 1999'));
    expect(await client.ask('ping')).toMatchObject({ type: 'pong' });
  });

  it('ends the stream with 1009 above 64 KiB; exactly 64 KiB are read', async () => {
    const client = await join();
    client.sayText(ping + ' '.repeat(LARGEST_FRAME - ping.length));
    await client.untilType('pong');
    client.sayText(ping + ' '.repeat(LARGEST_FRAME - ping.length + 1));
    expect((await client.untilClosed()).code).toBe(1009);
  });
});

describe('subscriptions', () => {
  it('have unique ids, and can end', async () => {
    const client = await join();
    const [all, one] = [await client.subscribe(), await client.subscribeTo(auctionId)];
    expect(all).not.toBe(one);
    expect(await client.ask('unsubscribe', { subscription_id: one })).toEqual({
      type: 'unsubscribed',
      cmd_id: expect.any(String),
      subscription_id: one,
    });
    expect(await client.ask('unsubscribe', { subscription_id: one })).toMatchObject({ status: 404 });
    expect(await client.subscribeTo(auctionId)).not.toBe(one);
  });
});

it('bye ends a stream normally', async () => {
  const client = await join();
  client.say({ type: 'bye', cmd_id: 'last' });
  expect((await client.untilClosed()).code).toBe(1000);
  expect(client.frames.at(-1)).toMatchObject({ type: 'ack', cmd_id: 'last', status: 200 });
});

it('a client that closes is answered with the same code', async () => {
  const client = await join();
  await client.close(1000);
  expect(client.closed!.code).toBe(1000);
});

/** A ping with this depth; the top object is level 1. */
function nested(levels: number): string {
  return `{"type":"ping","cmd_id":"x","more":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}
