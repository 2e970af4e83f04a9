import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Decimal, printDecimal } from '#libs/base/decimals.js';
import { orderOf } from '../checks/check.js';
import { credentials } from '../checks/caller.js';
import { method, path, permission, route } from '../checks/route.js';
import { arrayOf, object } from '../decoding/decode.js';
import { anyUuid, decimal, positive, text } from '../decoding/decode-scalars.js';
import { integerParam, query } from '../decoding/query.js';
import { bind, type BoundEndpoint, endpoint } from '../endpoint.js';
import { DEMO_DIALECT, DemoListener } from '../fixtures/demo-listener.js';
import { otherDialect } from '../fixtures/other-dialect.js';
import type { Dialect } from './dialect.js';

/** One table of endpoints, served in two dialects. */
const order = endpoint({
  operationId: 'order',
  method: 'POST',
  path: '/v1/orders',
  access: 'session',
  capability: 'auction:create',
  query: query('invalid_query', { limit: integerParam(1, 9, 5) }),
  body: object({
    optional: {
      count: positive,
      price: decimal(6),
      note: text(),
      legs: arrayOf(object({ required: { size: positive } })),
    },
  }),
});
const cancel = endpoint({
  operationId: 'cancel',
  method: 'POST',
  path: '/v1/orders/:id/cancel',
  access: 'session',
  ids: { id: anyUuid('invalid_order_id') },
  body: object({}),
});
const bulk = endpoint({
  operationId: 'bulk',
  method: 'POST',
  path: '/v1/bulk',
  access: 'session',
  maxBodyBytes: 200,
  body: object({ optional: { note: text() } }),
});

const printed = (price: Decimal | undefined): string | undefined => price && printDecimal(price);
const ENDPOINTS: readonly BoundEndpoint[] = [
  bind(order, ({ body, query: { limit } }) => ({
    status: 200,
    body: { ...body, price: printed(body.price), limit },
  })),
  bind(cancel, ({ ids }) => ({ status: 200, body: ids })),
  bind(bulk, ({ body }) => ({ status: 200, body })),
];

interface TestRequest {
  readonly path?: string;
  readonly method?: string;
  readonly token?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

let strict: DemoListener;
let other: DemoListener;
beforeEach(async () => {
  strict = await DemoListener.start(ENDPOINTS, {}, { dialect: DEMO_DIALECT });
  other = await DemoListener.start(ENDPOINTS, {}, { dialect: otherDialect() });
});
afterEach(async () => {
  await strict.close();
  await other.close();
});

const bytesOf = ({
  method: verb = 'POST',
  path: at = '/v1/orders',
  token,
  headers = [],
  body,
}: TestRequest): string =>
  [
    ...[`${verb} ${at} HTTP/1.1`, 'Host: demo', 'Connection: close', ...headers],
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    `\r\n${body ?? ''}`,
  ].join('\r\n');

async function verdict(listener: DemoListener, request: TestRequest): Promise<string> {
  const { status, body } = await listener.ask(bytesOf(request));
  return `${status} ${body}`;
}

const trader = { token: 'trader' };
const unreadable = (type: string, ...loc: readonly (string | number)[]): string =>
  `422 ${JSON.stringify({ detail: [{ type, loc }] })}`;

describe('the same endpoints in two dialects', () => {
  const DIFFERENCES: readonly (readonly [
    what: string,
    request: TestRequest,
    strict: string,
    other: string,
  ])[] = [
    [
      'the order of checks: credentials and path',
      { path: '/v1/nothing' },
      '401 {"error":"unauthorized"}',
      '404 {"detail":"not-found"}',
    ],
    [
      'the order of checks: size and credentials',
      { body: 'x'.repeat(101) },
      '401 {"error":"unauthorized"}',
      '413 {"detail":"That is too much"}',
    ],
    [
      'the order of checks: ids and body',
      { ...trader, path: '/v1/orders/x/cancel', body: '[' },
      '400 {"error":"invalid_order_id"}',
      unreadable('invalid-json'),
    ],
    ['the text of 401', {}, '401 {"error":"unauthorized"}', '401 {"detail":"Who are you?"}'],
    ['the envelope', { token: 'viewer' }, '403 {"error":"forbidden"}', '403 {"detail":"forbidden"}'],
    ['an unknown verdict', { token: 'down' }, '503 {"error":"unavailable"}', '503 {"detail":"unavailable"}'],
    [
      'headers that only the service may send',
      { ...trader, headers: ['X-Peer: x'], body: '{}' },
      '403 {"error":"internal_header"}',
      '200 {"limit":5}',
    ],
    [
      'content types',
      { ...trader, headers: ['Content-Type: text/csv'], body: '{}' },
      '415 {"error":"unsupported_media_type"}',
      '200 {"limit":5}',
    ],
    ['no body', trader, '400 {"error":"invalid_json"}', '200 {"limit":5}'],
    ['unknown fields', { ...trader, body: '{"x":[1]}' }, '400 {"error":"invalid_json"}', '200 {"limit":5}'],
    ['null', { ...trader, body: '{"note":null}' }, '400 {"error":"invalid_json"}', '200 {"limit":5}'],
    [
      'null in a required field',
      { ...trader, body: '{"legs":[{"size":null}]}' },
      '400 {"error":"invalid_json"}',
      unreadable('missing', 'legs', 0, 'size'),
    ],
    [
      'decimals',
      { ...trader, body: '{"price":0.100001}' },
      '400 {"error":"invalid_json"}',
      '200 {"price":"0.100001","limit":5}',
    ],
    [
      'the spelling of integers',
      { ...trader, body: '{"count":1e1}' },
      '400 {"error":"invalid_json"}',
      '200 {"count":10,"limit":5}',
    ],
    [
      'the path of a wrong value',
      { ...trader, body: '{"legs":[{"size":1},{"size":0.5}]}' },
      '400 {"error":"invalid_json"}',
      unreadable('mismatch', 'legs', 1, 'size'),
    ],
    [
      'depth',
      { ...trader, body: '{"legs":[{"size":1,"x":[]}]}' },
      '400 {"error":"invalid_json"}',
      unreadable('invalid-json'),
    ],
    [
      'the size of a body',
      { ...trader, body: `{"note":"${'x'.repeat(90)}"}` },
      `200 {"note":"${'x'.repeat(90)}","limit":5}`,
      '413 {"detail":"That is too much"}',
    ],
    [
      'unknown parameters',
      { ...trader, path: '/v1/orders?colour=red', body: '{}' },
      '400 {"error":"invalid_query"}',
      '200 {"limit":5}',
    ],
    [
      'the path of a wrong parameter',
      { ...trader, path: '/v1/orders?limit=10', body: '{}' },
      '400 {"error":"invalid_query"}',
      unreadable('mismatch', 'limit'),
    ],
  ];

  it.each(DIFFERENCES)('differ in %s', async (_what, request, inStrict, inOther) => {
    expect(await verdict(strict, request)).toBe(inStrict);
    expect(await verdict(other, request)).toBe(inOther);
  });

  it('accept a larger body for an endpoint that allows one', async () => {
    const body = JSON.stringify({ note: 'x'.repeat(150) });
    expect(await verdict(other, { ...trader, path: '/v1/bulk', body })).toBe(`200 ${body}`);
    expect(await verdict(strict, { ...trader, path: '/v1/bulk', body: body.padEnd(201) })).toContain('413');
  });

  it('refuse a repeated field in both', async () => {
    const twice = { ...trader, body: '{"note":"a","note":"b"}' };
    expect(await verdict(strict, twice)).toBe('400 {"error":"invalid_json"}');
    expect(await verdict(other, twice)).toBe(unreadable('repeated', 'note'));
  });

  it('send the request id in their own headers', async () => {
    const request = { ...trader, headers: ['X-Request-Id: mine', 'X-Trace: yours'], body: '{}' };
    const [inStrict, inOther] = [await strict.ask(bytesOf(request)), await other.ask(bytesOf(request))];
    expect(inStrict.headers).toMatchObject({ 'x-request-id': 'mine', 'cache-control': 'no-store' });
    expect(inStrict.headers).not.toHaveProperty('x-trace');
    expect(inOther.headers).toMatchObject({
      'x-trace': 'yours',
      'x-data-version': '1',
      'cache-control': 'private',
    });
    expect(inOther.headers).not.toHaveProperty('x-request-id');
  });

  it('send rate limits only in the dialect that has them', async () => {
    const request = bytesOf({ ...trader, body: '{}' });
    const limits: (string | undefined)[] = [];
    for (let call = 0; call < 3; call += 1) {
      const { status, headers } = await other.ask(request);
      limits.push(`${status} ${headers['x-ratelimit-remaining'] ?? ''} ${headers['retry-after'] ?? ''}`);
      expect((await strict.ask(request)).headers).not.toHaveProperty('x-ratelimit-limit');
    }
    expect(limits).toEqual(['200 1 ', '200 0 ', '429 0 60']);
  });

  it('refuse broken requests in their own envelope', async () => {
    expect((await strict.ask('nonsense\r\n\r\n')).body).toBe('{"error":"malformed_request"}');
    const refused = await other.ask('nonsense\r\n\r\n');
    expect([refused.status, refused.body]).toEqual([
      422,
      '{"detail":[{"type":"malformed-request","loc":[]}]}',
    ]);
    expect(refused.headers).toMatchObject({ 'x-data-version': '1', 'cache-control': 'private' });
    expect(refused.headers).toHaveProperty('x-trace');
  });
});

describe('an order of checks', () => {
  const dialect = (...checks: Dialect['checks']): Dialect => ({ ...DEMO_DIALECT, checks });

  it('in which a check precedes another that it needs is refused', () => {
    expect(() => orderOf(dialect(route, path, method, permission).checks)).toThrow(
      'permission is checked before credentials',
    );
    const fine = [route, credentials(() => true), path, method, permission];
    expect(orderOf(dialect(...fine).checks)).toEqual(fine);
  });
});
