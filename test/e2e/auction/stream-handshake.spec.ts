import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { OutgoingHttpHeaders } from 'node:http';
import { StreamClient, UpgradeRefused, type StreamOptions } from '#libs/client/stream-client.js';
import { ServiceRecords } from '../books.js';
import { rawExchange } from '../raw-exchange.js';
import { streamFloor, type StreamFloor } from '../stream-floor.js';
import { TokenForge } from '../token-forge.js';
import { UUID, verdict } from '../trading-floor.js';

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const ROUTING_HEADERS = [
  'x-service-token',
  'x-auction-peer',
  'x-auction-active-only',
  'x-auction-owner-read-fallback',
];

jest.setTimeout(30_000);

let floor: StreamFloor;
let books: ServiceRecords;
let forge: TokenForge;
let name: string;
let token: string;

beforeAll(async () => {
  floor = await streamFloor();
  books = new ServiceRecords(floor.cluster);
  forge = await TokenForge.open(floor.cluster, books);
  ({ name } = await floor.newTrader('maker'));
  token = await floor.token(name);
}, 60_000);

afterAll(async () => {
  floor.close();
  await books.close();
});

async function refusal(options: StreamOptions): Promise<UpgradeRefused> {
  try {
    await floor.open(options);
  } catch (error) {
    if (error instanceof UpgradeRefused) return error;
    throw error;
  }
  throw new Error('the handshake was accepted');
}

function claimsOf(of: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(of.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
}

/** As a browser must send it. */
function pair(of: string): string[] {
  return ['authorization', `Bearer.${Buffer.from(of).toString('base64url')}`];
}

describe('a handshake without a valid token', () => {
  async function loggedOut(): Promise<string> {
    const ended = await floor.newToken(name);
    const answer = await floor.anybody.as(ended).send('POST', '/auth/logout');
    expect(answer.status).toBe(204);
    return ended;
  }

  it.each<[string, () => Promise<StreamOptions>]>([
    ['none at all', () => Promise.resolve({})],
    ['one that is no token', () => Promise.resolve({ token: 'nonsense' })],
    ['one with a changed signature', () => Promise.resolve({ token: `${token.slice(0, -8)}AAAAAAAA` })],
    [
      'one that has expired',
      () =>
        Promise.resolve({
          token: forge.sign({ ...claimsOf(token), exp: Math.floor(Date.now() / 1_000) - 5 }),
        }),
    ],
    ['one that has been revoked', async () => ({ token: await loggedOut() })],
    ['one of an account that is not enrolled', async () => ({ token: await floor.newToken('stranger-1') })],
    ['another scheme', () => Promise.resolve({ headers: { authorization: `Basic ${token}` } })],
    ['a session cookie', () => Promise.resolve({ headers: { cookie: `session=${token}` } })],
    ['half of the subprotocol pair', () => Promise.resolve({ protocols: [pair(token)[1]!] })],
    ['the pair in the wrong order', () => Promise.resolve({ protocols: pair(token).reverse() })],
    ['the pair with a broken token', () => Promise.resolve({ protocols: pair(`${token}x`) })],
  ])('is 401 in the envelope of every refusal: %s', async (_, options) => {
    const refused = await refusal(await options());
    expect([refused.status, refused.text]).toEqual([401, '{"error":"unauthorized"}']);
    expect(refused.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'www-authenticate': 'Bearer',
      'cache-control': 'no-store',
    });
    expect(refused.headers['x-request-id']).toMatch(UUID);
  });

  it('keeps the request id that the client sent', async () => {
    const refused = await refusal({ headers: { 'x-request-id': 'mine-1' } });
    expect(refused.headers['x-request-id']).toBe('mine-1');
  });
});

describe('a handshake with a token', () => {
  it('is accepted at every gateway, without a subprotocol and without compression', async () => {
    for (const gateway of [0, 1]) {
      const client = await floor.open({ token, gateway });
      expect(client.protocol).toBe('');
      expect((await client.hello()).resumed).toBe(false);
    }
  });

  it('may have it as the subprotocol pair, and is answered with the first of the two', async () => {
    const client = await floor.open({ protocols: pair(token) });
    expect(client.protocol).toBe('authorization');
    await client.hello();
  });

  it.each(ROUTING_HEADERS)(
    'is refused with %s, whatever the token, and before it is checked',
    async (header) => {
      for (const options of [{ token }, {}]) {
        const refused = await refusal({ ...options, headers: { [header]: '' } });
        expect([refused.status, refused.text]).toEqual([
          403,
          '{"error":"internal_routing_headers_forbidden"}',
        ]);
      }
    },
  );
});

describe('a request that is not a handshake of this path', () => {
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' };

  it.each<[string, string, string, OutgoingHttpHeaders, string]>([
    ['a plain GET', 'GET', '/v1/stream', {}, '426 upgrade_required'],
    ['another upgrade', 'GET', '/v1/stream', h2c, '426 upgrade_required'],
    [
      'an old version',
      'GET',
      '/v1/stream',
      { ...HANDSHAKE, 'sec-websocket-version': '8' },
      '426 upgrade_required',
    ],
    ['a query', 'GET', '/v1/stream?x=1', HANDSHAKE, '400 invalid_request'],
    ['another method', 'POST', '/v1/stream', {}, '405 method_not_allowed'],
    ['an upgrade elsewhere', 'GET', '/v1/me', HANDSHAKE, '200'],
    ['h2c elsewhere', 'GET', '/v1/me', h2c, '200'],
    ['an upgrade of an unknown path', 'GET', '/v1/nothing', HANDSHAKE, '404 not_found'],
    ['an upgrade of a health check', 'GET', '/healthz', HANDSHAKE, '200'],
    ['a trailing slash', 'GET', '/v1/stream/', HANDSHAKE, '404 not_found'],
  ])('is answered like any request: %s', async (_, method, path, headers, expected) => {
    const answer = await floor.anybody.as(token).send(method, path, { headers });
    expect(verdict(answer)).toBe(expected);
    expect(answer.headers['x-request-id']).toMatch(UUID);
    if (answer.status !== 426) return;
    expect(answer.headers).toMatchObject({ upgrade: 'websocket', 'sec-websocket-version': '13' });
  });

  it('needs a token as well', async () => {
    const answers = [];
    for (const headers of [{}, h2c, HANDSHAKE])
      answers.push(await floor.anybody.send('GET', '/v1/stream', { headers }));
    expect(answers.map(verdict)).toEqual(answers.map(() => '401 unauthorized'));
  });

  it('is malformed without a key, and the connection ends', async () => {
    const lines = ['GET /v1/stream HTTP/1.1', 'host: x', `authorization: Bearer ${token}`];
    const handshake = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', '', ''];
    const answer = await rawExchange(floor.gatewayUrl(), [...lines, ...handshake].join('\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\{"error":"malformed_request"\}$/);
  });
});

it('a client may open many streams at once', async () => {
  const streams = await Promise.all(Array.from({ length: 20 }, () => floor.listen(name)));
  const ids = new Set(streams.map(({ frames: [welcome] }) => JSON.stringify(welcome)));
  expect(ids.size).toBe(20);
  for (const stream of streams) expect(stream).toBeInstanceOf(StreamClient);
});
