import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUCTION, QUOTE, demoEndpoints } from './fixtures/demo-endpoints.js';
import { DemoListener } from './fixtures/demo-listener.js';
import type { RawReply } from './fixtures/raw-client.js';

const MIB = 1_048_576;
let listener: DemoListener;

beforeAll(async () => {
  listener = await DemoListener.start(demoEndpoints());
});
afterAll(async () => {
  await listener.close();
});

interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly string[];
  readonly token?: string | undefined;
  readonly body?: string | Buffer;
}

function bytesOf(request: TestRequest): Buffer {
  const body = Buffer.from(request.body ?? '');
  const lines = [
    `${request.method ?? 'GET'} ${request.path} HTTP/1.1`,
    'Host: demo',
    'Connection: close',
    ...(request.token === undefined ? [] : [`Authorization: Bearer ${request.token}`]),
    ...(request.body === undefined ? [] : [`Content-Length: ${body.length}`]),
    ...(request.headers ?? []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function ask(request: TestRequest): Promise<RawReply> {
  return listener.ask(bytesOf(request), request.method === 'HEAD');
}

async function verdict(request: TestRequest): Promise<string> {
  const reply = await ask(request);
  return `${reply.status} ${reply.body}`;
}

const error = (status: number, code: string): string => `${status} {"error":"${code}"}`;

describe('order of checks', () => {
  /** Each is a change to a valid request. In the order of the contract. */
  const FAULTS = [
    ['an internal header', error(403, 'internal_header')],
    ['no token', error(401, 'unauthorized')],
    ['an unknown path', error(404, 'not_found')],
    ['another method', error(405, 'method_not_allowed')],
    ['no capability', error(403, 'forbidden')],
    ['another content type', error(415, 'unsupported_media_type')],
    ['an encoding', error(415, 'unsupported_media_type')],
    ['too large a body', error(413, 'payload_too_large')],
    ['a malformed auction id', error(400, 'invalid_auction_id')],
    ['a malformed quote id', error(400, 'invalid_quote_id')],
    ['no JSON', error(400, 'invalid_json')],
    ['no key', error(400, 'idempotency_key_required')],
  ] as const;
  type Fault = (typeof FAULTS)[number][0];

  function requestWith(...faults: readonly Fault[]): TestRequest {
    const has = (fault: Fault): boolean => faults.includes(fault);
    const auction = has('a malformed auction id') ? AUCTION.toUpperCase() : AUCTION;
    const quote = has('a malformed quote id') ? QUOTE.replace('1', 'g') : QUOTE;
    const json = has('no JSON') ? '{"price_atoms":null}' : '{"price_atoms":1}';
    return {
      method: has('another method') ? 'PATCH' : 'POST',
      path: `/v1/auctions/${auction}/quotes/${quote}/${has('an unknown path') ? 'destroy' : 'revise'}`,
      token: has('no token') ? undefined : has('no capability') ? 'viewer' : 'trader',
      headers: [
        ...(has('an internal header') ? ['x-SERVICE-token: a'] : []),
        ...(has('another content type') ? ['Content-Type: text/plain'] : ['Content-Type: application/json']),
        ...(has('an encoding') ? ['Content-Encoding: gzip'] : []),
        ...(has('no key') ? [] : ['Idempotency-Key: k']),
      ],
      body: has('too large a body') ? json.padEnd(MIB + 1) : json,
    };
  }

  it('reaches the handler without a fault', async () => {
    const body = JSON.stringify({ auctionID: AUCTION, quoteID: QUOTE, key: 'k' });
    expect(await verdict(requestWith())).toBe(`200 ${body}`);
  });

  it.each(FAULTS)('%s is %s', async (fault, expected) => {
    expect(await verdict(requestWith(fault))).toBe(expected);
  });

  /** The order of neighbours implies the order of any two. */
  const neighbours = FAULTS.slice(1).map(
    ([second], index) => [FAULTS[index]![0], second, FAULTS[index]![1]] as const,
  );

  it.each(neighbours)('%s comes before %s', async (first, second, expected) => {
    expect(await verdict(requestWith(first, second))).toBe(expected);
  });

  it('is the same for a request with every fault', async () => {
    const all = FAULTS.map(([fault]) => fault);
    for (const [index, [, expected]] of FAULTS.entries())
      expect(await verdict(requestWith(...all.slice(index)))).toBe(expected);
  });
});

describe('internal headers', () => {
  const names = ['X-Service-Token', 'X-Peer'];
  const paths = ['/healthz', '/auth/login', '/nothing', '/v1/nothing', '*', '/'];

  it.each([...names.map((name) => [name, '/v1/auctions']), ...paths.map((path) => ['X-Peer', path])])(
    '%s on %s',
    async (name = '', path = '') => {
      for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
        const method = path === '*' ? 'OPTIONS' : 'GET';
        expect(await verdict({ method, path, token: 'trader', headers: [`${spelling}: x`] })).toBe(
          error(403, 'internal_header'),
        );
      }
    },
  );

  it.each(names)('%s after the chunks of a body', async (name) => {
    for (const [method, path] of [
      ['POST', '/v1/auctions/preflight'],
      ['GET', '/v1/notes'],
      ['POST', '/auth/login'],
    ] as const) {
      const chunks = (trailer: string): TestRequest => ({
        method,
        path,
        token: 'trader',
        headers: ['Transfer-Encoding: chunked', '', `2\r\n{}\r\n0\r\n${trailer}`],
      });
      expect(await verdict(chunks(`${name}: x`))).toBe(error(403, 'internal_header'));
      expect(await verdict(chunks('x-other: x'))).not.toContain('403');
    }
  });

  it('are found empty, after 99 others, and in a header list that is too long', async () => {
    const forbidden = error(403, 'internal_header');
    expect(await verdict({ path: '/healthz', headers: ['X-Peer:'] })).toBe(forbidden);
    const many = Array.from({ length: 500 }, (_, index) => `a${index}: 1`);
    expect(await verdict({ path: '/healthz', headers: [...many, 'X-Peer: x'] })).toBe(forbidden);
  });
});

describe('tokens', () => {
  it.each([
    ['missing', []],
    ['empty', ['Authorization: Bearer']],
    ['of another scheme', ['Authorization: Basic trader']],
    ['without a scheme', ['Authorization: trader']],
    ['followed by something', ['Authorization: Bearer trader x']],
    ['repeated', ['Authorization: Bearer trader', 'Authorization: Bearer trader']],
    ['repeated differently', ['Authorization: Bearer trader', 'authorization: Bearer viewer']],
    ['unknown', ['Authorization: Bearer stranger']],
    ['in another header', ['X-Authorization: Bearer trader']],
  ])('that are %s', async (_what, headers) => {
    for (const path of ['/v1/auctions', '/v1', '/v1/', '/v1/nothing', '/v1/ops/halts']) {
      const reply = await ask({ path, headers });
      expect([reply.status, reply.body]).toEqual([401, '{"error":"unauthorized"}']);
      expect(reply.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('may have their scheme in upper or lower case', async () => {
    expect((await ask({ path: '/v1/auctions', headers: ['authorization: bearer trader'] })).status).toBe(200);
  });

  it('are not required outside /v1', async () => {
    expect(await verdict({ path: '/nothing' })).toBe(error(404, 'not_found'));
    expect(await verdict({ path: '/v2' })).toBe(error(404, 'not_found'));
    expect(await verdict({ path: '/v1x' })).toBe(error(404, 'not_found'));
  });

  it('are refused with an explanation only on the quote preflight', async () => {
    const body = '{}';
    expect(await verdict({ method: 'POST', path: `/v1/auctions/${AUCTION}/quotes/preflight`, body })).toBe(
      '401 {"error":"unauthorized","message":"authentication is required"}',
    );
    expect(await verdict({ method: 'GET', path: `/v1/auctions/${AUCTION}/quotes/preflight` })).toBe(
      error(401, 'unauthorized'),
    );
  });

  it('that cannot be checked give 503, or 500 for an endpoint without 503', async () => {
    expect(await verdict({ path: '/v1/auctions', token: 'down' })).toBe(error(503, 'unavailable'));
    expect(await verdict({ method: 'POST', path: '/v1/auctions/preflight', token: 'down' })).toBe(
      error(500, 'internal_error'),
    );
  });
});

describe('paths and methods', () => {
  it('are matched without decoding', async () => {
    expect(await verdict({ path: '/v1/%61uctions', token: 'trader' })).toBe(error(404, 'not_found'));
  });

  it('lists the allowed methods', async () => {
    const reply = await ask({ method: 'DELETE', path: '/v1/auctions', token: 'trader' });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    const options = await ask({ method: 'OPTIONS', path: '/healthz' });
    expect([options.status, options.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = await ask({ method: 'HEAD', path: '/v1/auctions', token: 'trader' });
    const get = await ask({ path: '/v1/auctions', token: 'trader' });
    const names = (reply: RawReply): string[] => Object.keys(reply.headers);
    expect([head.status, head.body, names(head)]).toEqual([200, '', names(get)]);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await ask({ method: 'HEAD', path: '/auth/login' })).status).toBe(405);
  });

  it('accepts an absolute target', async () => {
    expect((await ask({ path: 'http://elsewhere/v1/auctions?limit=5', token: 'trader' })).body).toContain(
      '"limit":5',
    );
    expect((await ask({ path: 'http://elsewhere/v1/auctions' })).status).toBe(401);
  });

  it.each(['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD'])(
    'hides endpoints of another role from %s',
    async (method) => {
      const hidden = await ask({ method, path: '/v1/ops/halts', token: 'trader' });
      const absent = await ask({ method, path: '/v1/ops/holts', token: 'trader' });
      expect(hidden.status).toBe(404);
      expect([hidden.body, Object.keys(hidden.headers)]).toEqual([absent.body, Object.keys(absent.headers)]);
    },
  );

  it('shows them to the role', async () => {
    expect(await verdict({ path: '/v1/ops/halts', token: 'operator' })).toBe('200 {"halts":[]}');
    expect((await ask({ method: 'PUT', path: '/v1/ops/halts', token: 'operator' })).headers.allow).toBe(
      'GET, HEAD',
    );
  });

  it('hides one method of a path that other roles may use', async () => {
    const reply = await ask({ method: 'PUT', path: '/v1/notes', token: 'trader' });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect((await ask({ method: 'PUT', path: '/v1/notes', token: 'operator' })).status).toBe(200);
  });
});

describe('content', () => {
  const post = (headers: readonly string[], body: string | Buffer = '{"price_atoms":1}'): Promise<string> =>
    verdict({
      method: 'POST',
      path: '/v1/auctions',
      token: 'trader',
      headers: ['Idempotency-Key: k', ...headers],
      body,
    });
  const unsupported = error(415, 'unsupported_media_type');

  it.each([
    [],
    ['Content-Type: application/json'],
    ['Content-Type: Application/JSON'],
    ['Content-Type: application/json;charset=utf-8'],
    ['Content-Type: application/json ; charset="UTF-8"'],
  ])('%s is read', async (...headers) => {
    expect(await post(headers)).toMatch(/^201/);
  });

  it.each([
    ['Content-Type:'],
    ['Content-Type: text/json'],
    ['Content-Type: application/json; charset=latin1'],
    ['Content-Type: application/json; charset=utf-16'],
    ['Content-Type: application/json; boundary=x'],
    ['Content-Type: application/json, text/plain'],
    ['Content-Type: application/jsonx'],
    ['Content-Type: application/merge-patch+json'],
    ['Content-Type: application/x-www-form-urlencoded'],
    ['Content-Type: application/json', 'Content-Type: application/json'],
    ['Content-Encoding: gzip'],
    ['Content-Encoding: identity'],
    ['Content-Encoding:'],
  ])('%s is refused with 415', async (...headers) => {
    expect(await post(headers)).toBe(unsupported);
  });

  it('may be one mebibyte long, and no longer', async () => {
    expect(await post([], '{"price_atoms":1}'.padEnd(MIB))).toMatch(/^201/);
    expect(await post([], '{"price_atoms":1}'.padEnd(MIB + 1))).toBe(error(413, 'payload_too_large'));
  });

  it.each([
    ['', 'invalid_json'],
    ['{"price_atoms":1,"account_id":"x"}', 'invalid_json'],
    ['{"price_atoms":1} {}', 'multiple_json_values'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_json'],
  ])('%s is %s', async (body, code) => {
    expect(await post([], body)).toBe(error(400, code));
  });
});

describe('a role that an endpoint requires', () => {
  it('is checked before the content, and does not hide the endpoint', async () => {
    const put = (token: string | undefined): Promise<string> =>
      verdict({ method: 'PUT', path: '/v1/settings', token, body: 'not JSON' });
    expect(await put(undefined)).toBe(error(401, 'unauthorized'));
    expect(await put('trader')).toBe(error(403, 'forbidden'));
    expect(await put('operator')).toBe(error(400, 'invalid_json'));
    const reply = await ask({ path: '/v1/settings', token: 'trader' });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'PUT']);
  });
});

describe('ids and queries', () => {
  it.each([AUCTION.replace('0', 'g'), AUCTION.toUpperCase(), AUCTION.replace('0', '%30'), '%00', '..'])(
    '%s is malformed',
    async (id) => {
      expect(await verdict({ path: `/v1/auctions/${id}`, token: 'trader' })).toBe(
        error(400, 'invalid_auction_id'),
      );
    },
  );

  it('does not distinguish an unknown id from a hidden one', async () => {
    const [one, other] = await Promise.all(
      [QUOTE, QUOTE.replace('1', '2')].map((id) => ask({ path: `/v1/auctions/${id}`, token: 'trader' })),
    );
    expect(one?.body).toBe('{"error":"auction_not_found"}');
    expect([one?.body, Object.keys(one?.headers ?? {})]).toEqual([
      other?.body,
      Object.keys(other?.headers ?? {}),
    ]);
  });

  it.each([
    ['GET', `/v1/auctions/${AUCTION}`],
    ['POST', '/auth/login'],
  ])('%s %s has no parameters, and refuses all', async (method, path) => {
    for (const query of ['x=1', 'limit=1', '%', '&', '=']) {
      expect(await verdict({ method, path: `${path}?${query}`, token: 'trader', body: '{}' })).toBe(
        error(400, 'invalid_request'),
      );
    }
    const nothing = await verdict({ method, path: `${path}?`, token: 'trader', body: '{}' });
    expect(nothing).not.toContain('invalid_request');
  });

  it('refuses unknown parameters, except on public reads', async () => {
    expect(await verdict({ path: '/v1/auctions?x=1', token: 'trader' })).toBe(
      error(400, 'invalid_list_page'),
    );
    expect(await verdict({ path: `/v1/auctions/${AUCTION}/events?limit=0`, token: 'trader' })).toBe(
      error(400, 'invalid_events_page'),
    );
    expect((await ask({ path: '/healthz?x=%' })).status).toBe(200);
  });

  it('checks the id before the query', async () => {
    expect(await verdict({ path: '/v1/auctions/x/events?limit=0', token: 'trader' })).toBe(
      error(400, 'invalid_auction_id'),
    );
  });
});

describe('idempotency keys', () => {
  const create = (headers: readonly string[], body: string): Promise<string> =>
    verdict({ method: 'POST', path: '/v1/auctions', token: 'trader', headers, body });
  const required = error(400, 'idempotency_key_required');
  const mismatch = error(400, 'idempotency_key_mismatch');

  it.each([
    [['Idempotency-Key: k'], '{"price_atoms":1}', '201 {"price_atoms":1,"key":"k"}'],
    [[], '{"price_atoms":1,"idempotency_key":"k"}', '201 {"price_atoms":1,"key":"k"}'],
    [['idempotency-key: k'], '{"idempotency_key":"k","price_atoms":1}', '201 {"price_atoms":1,"key":"k"}'],
    [[], '{"price_atoms":1}', required],
    [['Idempotency-Key: k'], '{"price_atoms":1,"idempotency_key":"l"}', mismatch],
    [['Idempotency-Key: k', 'Idempotency-Key: l'], '{"price_atoms":1}', mismatch],
    [['Idempotency-Key: k'], '{"price_atoms":1,"idempotency_key":5}', error(400, 'invalid_json')],
  ])('%j with %s: %s', async (headers, body, expected) => {
    expect(await create(headers, body)).toBe(expected);
  });

  it('are ignored by a preflight, and unknown to endpoints without keys', async () => {
    const body = '{"price_atoms":1,"idempotency_key":"a b"}';
    const ask = (path: string): Promise<string> =>
      verdict({ method: 'POST', path, token: 'trader', headers: ['Idempotency-Key: k'], body });
    expect(await ask('/v1/auctions/preflight')).toBe('200 {"price_atoms":1}');
    expect(await ask(`/v1/auctions/${AUCTION}/quotes/preflight`)).toBe(error(400, 'invalid_json'));
  });
});

describe('answers', () => {
  it('carry these headers and no others', async () => {
    const { headers } = await ask({ path: '/healthz' });
    expect(headers).toEqual({
      'x-request-id': expect.stringMatching(/^fresh-\d+$/),
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'content-length': '15',
      connection: 'close',
      date: expect.any(String),
    });
  });

  it.each(['abc', 'A.b_c:d-9', 'x'.repeat(128)])('repeat the request id %s', async (id) => {
    expect((await ask({ path: '/nothing', headers: [`X-Request-Id: ${id}`] })).headers['x-request-id']).toBe(
      id,
    );
  });

  it.each([['a b'], ['x'.repeat(129)], [''], ['a"b'], ['é']])(
    'do not repeat the request id %j',
    async (id) => {
      const { headers } = await ask({ path: '/nothing', headers: [`X-Request-Id: ${id}`] });
      expect(headers['x-request-id']).toMatch(/^fresh-/);
    },
  );

  it('have no body with 204', async () => {
    const { status, headers, body } = await ask({ method: 'DELETE', path: '/v1/session', token: 'trader' });
    expect([status, headers['content-length'], headers['content-type'], body]).toEqual([
      204,
      undefined,
      undefined,
      '',
    ]);
  });

  it('to a fault reveal nothing; the fault is logged', async () => {
    expect(await verdict({ path: '/v1/broken', token: 'trader' })).toBe(error(500, 'internal_error'));
    expect(String(listener.faults.at(-1))).toContain('swordfish');
  });

  it('to an outage are 503, and log no fault', async () => {
    const faults = listener.faults.length;
    expect(await verdict({ path: '/v1/away', token: 'trader' })).toBe(error(503, 'unavailable'));
    expect(listener.faults).toHaveLength(faults);
  });

  it('are reported to the metrics', async () => {
    await ask({ path: '/healthz', headers: ['X-Request-Id: counted'] });
    expect(listener.answered.at(-1)).toMatchObject({
      requestId: 'counted',
      operationId: 'health',
      status: 200,
    });
  });

  it('are streamed line by line, and end with a line that confirms completeness', async () => {
    const path = `/v1/auctions/${AUCTION}/events`;
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`, {
      headers: { authorization: 'Bearer trader', accept: 'application/x-ndjson' },
    });
    const lines = (await response.text()).trimEnd().split('\n');
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      2_001,
      '{"seq":1}',
      '{"complete":true,"count":2000}',
    ]);
    const head = await ask({
      method: 'HEAD',
      path,
      token: 'trader',
      headers: ['Accept: application/x-ndjson'],
    });
    expect([head.status, head.headers['content-type'], head.body]).toEqual([200, 'application/x-ndjson', '']);
  });
});
