import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ApiAnswer, ApiRequest } from '#libs/client/api-client.js';
import type { AuctionJson, ErrorJson } from '#libs/client/wire.js';
import { rawExchange } from '../raw-exchange.js';
import {
  auctionBody,
  CONTRACT,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

const INTERNAL_HEADERS = [
  'X-Service-Token',
  'X-Auction-Peer',
  'X-Auction-Active-Only',
  'X-Auction-Owner-Read-Fallback',
];
const ONE_MIB = 1_048_576;

let floor: TradingFloor;
let originator: Trader;
let maker: Trader;
let outsider: Trader;
let viewer: Trader;

beforeAll(async () => {
  floor = await sharedFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
  [outsider, viewer] = await Promise.all([floor.trader('outsider-1'), floor.trader('viewer-1')]);
}, 60_000);

afterAll(() => {
  floor.close();
});

function body(differing: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return auctionBody(floor.contract('venue_c', 5), [maker], { duration_ms: 60_000, ...differing });
}

function create(asked: ApiRequest): Promise<ApiAnswer<ErrorJson>> {
  return originator.api.send('POST', '/v1/auctions', {
    ...asked,
    headers: { 'idempotency-key': randomUUID(), ...asked.headers },
  });
}

describe('an internal routing header', () => {
  const paths = ['GET /v1/auctions', 'GET /nowhere', 'DELETE /v1/auctions'];
  it.each(INTERNAL_HEADERS.flatMap((name) => paths.map((path) => [name, path] as const)))(
    '%s is refused on %s, with and without a token',
    async (name, path) => {
      const [method = '', url = ''] = path.split(' ');
      for (const api of [floor.anybody, maker.api]) {
        for (const value of ['x', '']) {
          const answer = await api.send<ErrorJson>(method, url, { headers: { [name]: value } });
          expect(verdict(answer)).toBe('403 internal_routing_headers_forbidden');
          expect(answer.body).toEqual({ error: 'internal_routing_headers_forbidden' });
        }
      }
    },
  );
});

describe('the order of checks', () => {
  /** Each call breaks two rules next to each other; the earlier one answers. */
  const rows: readonly (readonly [string, string, string, ApiRequest, string])[] = [
    ['token before path', 'nobody', 'GET /v1/nowhere', {}, '401 unauthorized'],
    ['token before method', 'nobody', 'PATCH /v1/auctions', {}, '401 unauthorized'],
    ['method before capability', 'viewer', 'DELETE /v1/auctions', {}, '405 method_not_allowed'],
    [
      'capability before content type',
      'viewer',
      'POST /v1/auctions',
      { raw: '{}', headers: { 'content-type': 'text/plain' } },
      '403 forbidden',
    ],
    [
      'content type before size',
      'originator',
      'POST /v1/auctions',
      { raw: 'x'.repeat(ONE_MIB + 1), headers: { 'content-type': 'text/plain' } },
      '415 unsupported_media_type',
    ],
    [
      'encoding before size',
      'originator',
      'POST /v1/auctions',
      { raw: 'x'.repeat(ONE_MIB + 1), headers: { 'content-encoding': 'gzip' } },
      '415 unsupported_media_type',
    ],
    [
      'size before ids',
      'maker',
      'POST /v1/auctions/nonsense/quotes',
      { raw: 'x'.repeat(ONE_MIB + 1) },
      '413 payload_too_large',
    ],
    ['ids before body', 'maker', 'POST /v1/auctions/nonsense/quotes', { raw: '{' }, '400 invalid_auction_id'],
    ['body before key', 'maker', 'POST /v1/auctions/{unknown}/quotes', { raw: '{' }, '400 invalid_json'],
    [
      'key before visibility',
      'maker',
      'POST /v1/auctions/{unknown}/quotes',
      { body: { price_atoms: 1, quantity_atoms: 1 } },
      '400 idempotency_key_required',
    ],
    [
      'visibility before role',
      'outsider',
      'POST /v1/auctions/{auction}/cancel',
      { body: {}, headers: { 'idempotency-key': 'k' } },
      '404 auction_not_found',
    ],
    [
      'role before the rules',
      'originator',
      'POST /v1/auctions/{auction}/quotes',
      { body: { price_atoms: 1, quantity_atoms: 1 }, headers: { 'idempotency-key': 'k' } },
      '403 forbidden',
    ],
  ];

  it.each(rows)('%s', async (_, by, call, asked, expected) => {
    const auction = await originator.opens(body());
    const api = { nobody: floor.anybody, viewer: viewer.api, maker: maker.api, outsider: outsider.api }[by];
    const [method = '', template = ''] = call.split(' ');
    const path = template
      .replace('{unknown}', `0${randomUUID().slice(1)}`)
      .replace('{auction}', auction.auction_id);
    expect(verdict(await (api ?? originator.api).send(method, path, asked))).toBe(expected);
    await originator.cancel(auction.auction_id);
  });
});

describe('a body', () => {
  const written = (): string => JSON.stringify(body());
  const withField = (field: string): string => `${written().slice(0, -1)},${field}}`;
  const JSON_FAULT = '400 invalid_json';

  const refused: [string, () => string | Buffer, string][] = [
    ['nothing', () => '', JSON_FAULT],
    ['half of it', () => written().slice(0, -1), JSON_FAULT],
    ['an unknown field', () => withField('"account_id":"me"'), JSON_FAULT],
    ['a field twice', () => withField('"side":"BUY"'), JSON_FAULT],
    ['5,000 levels', () => '['.repeat(5_000), JSON_FAULT],
    ['invalid UTF-8', () => Buffer.from(withField('"client_reference":"\xff"'), 'latin1'), JSON_FAULT],
    ['a fraction', () => written().replace('"quantity_atoms":10000000', '"quantity_atoms":1.0'), JSON_FAULT],
    ['two values', () => `${written()}{}`, '400 multiple_json_values'],
  ];

  it.each(refused)('of %s is refused', async (_, raw, expected) => {
    const answer = await create({ raw: raw() });
    expect(verdict(answer)).toBe(expected);
    expect(Object.keys(answer.body)).toEqual(['error']);
  });

  it('that looks unusual but is valid is accepted', async () => {
    const raw = `\r\n\t ${withField('"client_reference":"\\ud83d\\ude00 \\u0041\\/"')} \n`.replace(
      '"side"',
      '"\\u0073ide"',
    );
    const answer = await originator.api.send<AuctionJson>('POST', '/v1/auctions', {
      raw,
      headers: { 'content-type': 'application/json; charset=utf-8', 'idempotency-key': randomUUID() },
    });
    const opened = mustBe(201, answer);
    expect(opened).toMatchObject({ client_reference: '😀 A/' });
    await originator.cancel(opened.auction_id);
  });

  it('has at most 1 MiB, counted from the bytes that arrive and not from the announced length', async () => {
    const exact = withField(
      `"client_reference":"${'r'.repeat(ONE_MIB - Buffer.byteLength(withField('"client_reference":""')))}"`,
    );
    expect(Buffer.byteLength(exact)).toBe(ONE_MIB);
    expect(verdict(await create({ raw: exact }))).toBe('422 INVALID_TERMS');
    expect(verdict(await create({ raw: `${exact} ` }))).toBe('413 payload_too_large');
    const promised = await rawExchange(
      floor.cluster.gatewayUrl,
      await head('POST /v1/auctions HTTP/1.1', `Content-Length: ${100 * ONE_MIB}`),
    );
    expect(promised).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('is uncompressed JSON, with or without a content type', async () => {
    const types = [
      'text/plain',
      'application/xml',
      'application/json-patch+json',
      'multipart/form-data; boundary=x',
    ];
    for (const type of types) {
      const answer = await create({ raw: written(), headers: { 'content-type': type } });
      expect([type, verdict(answer)]).toEqual([type, '415 unsupported_media_type']);
    }
    for (const encoding of ['gzip', 'identity', 'br']) {
      const raw = encoding === 'gzip' ? gzipSync(written()) : written();
      const answer = await create({ raw, headers: { 'content-encoding': encoding } });
      expect([encoding, verdict(answer)]).toEqual([encoding, '415 unsupported_media_type']);
    }
    const untyped = await rawExchange(
      floor.cluster.gatewayUrl,
      `${await head('POST /v1/auctions HTTP/1.1', 'Content-Length: 2', 'Connection: close')}{}`,
    );
    expect(untyped).toMatch(/^HTTP\/1\.1 400 .*invalid_json/s);
  });

  async function head(...lines: string[]): Promise<string> {
    const { access_token: token } = mustBe(
      200,
      await floor.anybody.send<{ access_token: string }>('POST', '/auth/login', {
        body: { email: `${originator.name}@demo.sotto`, password: floor.cluster.file.demo.password },
      }),
    );
    return `${[...lines, 'Host: x', `Authorization: Bearer ${token}`].join('\r\n')}\r\n\r\n`;
  }
});

describe('an object that the caller may not see', () => {
  it('looks exactly like one that never existed, in bytes and headers', async () => {
    const live = await originator.opens(body());
    const over = await originator.opens(body({ duration_ms: 1_000 }));
    await maker.quotes(live.auction_id, 500_000, 1);
    await originator.until(over.auction_id, 'NO_AWARD');
    await originator.untilCompletedRead(over.auction_id);
    const terms = { price_atoms: 500_000, quantity_atoms: CONTRACT };
    const check = { price_atoms: 500_000, max_executable_quantity_atoms: CONTRACT };
    const calls: ((id: string) => Promise<ApiAnswer<unknown>>)[] = [
      (id) => outsider.api.get(`/v1/auctions/${id}`),
      (id) => outsider.api.get(`/v1/auctions/${id}/events`),
      (id) => outsider.api.get(`/v1/auctions/${id}/quotes`),
      (id) => outsider.api.get(`/v1/auctions/${id}/events`, { accept: 'application/x-ndjson' }),
      (id) => outsider.submit(id, terms),
      (id) => outsider.cancel(id),
      (id) => outsider.api.post(`/v1/auctions/${id}/quotes/preflight`, check, null),
      (id) => outsider.api.post(`/v1/auctions/${id}/quotes/${id}/withdraw`, {}),
      (id) =>
        outsider.api.post(`/v1/auctions/${id}/quotes/${id}/revise`, { expected_revision: 1, price_atoms: 1 }),
    ];
    // An id of another shard, one of another version, and one that differs in a single digit.
    const never = [
      `${live.auction_id[0]}${randomUUID().slice(1)}`,
      `2${randomUUID().slice(1)}`,
      live.auction_id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    ];
    for (const call of calls) {
      const answers = await Promise.all([live.auction_id, over.auction_id, ...never].map(call));
      expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['{"error":"auction_not_found"}']));
      const heads = answers.map(({ status, headerNames, headers }) => {
        const rest = Object.entries(headers).filter(([name]) => name !== 'date' && name !== 'x-request-id');
        return JSON.stringify([status, headerNames, rest]);
      });
      expect(new Set(heads).size).toBe(1);
    }
    await originator.cancel(live.auction_id);
  });

  it('is only malformed if its id is', async () => {
    const id = (await originator.opens(body())).auction_id;
    const malformed = [
      id.toUpperCase(),
      `3${id.slice(1)}`,
      `f${id.slice(1)}`,
      id.slice(1),
      `${id}0`,
      `{${id}}`,
      id.replaceAll('-', ''),
    ];
    for (const text of malformed) {
      expect([text, verdict(await originator.api.get(`/v1/auctions/${text}`))]).toEqual([
        text,
        '400 invalid_auction_id',
      ]);
    }
    await originator.cancel(id);
  });
});

describe('every answer', () => {
  it('has its own request id', async () => {
    const answers = await Promise.all(
      ['/healthz', '/nowhere', '/v1/auctions', '/v1/me'].map((path) => floor.anybody.get<unknown>(path)),
    );
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    expect(ids.every((id) => typeof id === 'string' && id.length > 8)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is JSON in the flat envelope, even for bytes that are not HTTP', async () => {
    for (const garbage of [
      'GARBAGE\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(200_000)}\r\n\r\n`,
    ]) {
      expect(await rawExchange(floor.cluster.gatewayUrl, garbage)).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
  });

  it('comes although other clients send nothing, or half a request', async () => {
    const { hostname, port } = new URL(floor.cluster.gatewayUrl);
    const idlers = Array.from({ length: 100 }, (_, index) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      if (index % 2 === 0)
        socket.write('POST /v1/auctions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
      return socket;
    });
    const began = performance.now();
    expect((await maker.api.get('/v1/me')).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(1_000);
    for (const socket of idlers) socket.destroy();
  });
});
