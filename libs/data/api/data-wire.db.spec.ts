import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_SECRET, type RequestHeaders } from '#libs/testing/data/data-callers.js';
import { DataWorld, type WorldReply } from '#libs/testing/data/data-world.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { eventually } from '#libs/testing/eventually.js';
import { marketEvent } from '#libs/testing/data/streams.js';

let world: DataWorld;
beforeAll(async () => {
  world = await DataWorld.open({ limitsFactor: 1_000 });
  await world.put('venue_a', marketEvent('venue_a', 'rain'));
  await world.say('venue_a');
});
afterAll(() => world.close());
afterEach(() => {
  expect(world.faults).toEqual([]);
});

const headers: RequestHeaders = { 'x-admin-secret': ADMIN_SECRET };
const textOf = ({ status, text }: WorldReply): string => `${status} ${text}`;
const NOT_FOUND = '404 {"detail":"Not Found"}';
const METADATA = '/markets/metadata?provider=venue_a&ticker=rain';

/** Sends raw bytes on a new connection, and resolves with the reply when it closes. */
function written(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(world.url()).port), '127.0.0.1', () => socket.write(text));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.on('error', reject);
  });
}

describe('a path', () => {
  it.each([
    '/Health',
    '/health/',
    '//health',
    '/health//',
    '/',
    '/health/x',
    '/providers/configs/',
    '/%zz',
    '/v1/marks',
  ])('%s is unknown', async (path) => {
    expect(textOf(await world.ask(path))).toBe(NOT_FOUND);
  });

  it('may be percent-encoded', async () => {
    expect(textOf(await world.ask('/%68ealth'))).toBe('200 {"status":"ok"}');
    expect(textOf(await world.ask('/providers/configs/%20VENUE_A%20'))).toMatch(/^200 \{"id":"venue_a"/);
    expect(textOf(await world.ask('/providers/configs/a%2Fb%20c'))).toBe(
      '404 {"detail":"Provider not found: a/b c"}',
    );
    expect(textOf(await world.ask('/providers%2Fconfigs'))).toBe(NOT_FOUND);
  });

  it('is served by its own listener only', async () => {
    expect((await world.ask('/v1/marks?provider=venue_a&contract_id=x', { on: 'companion' })).status).toBe(
      200,
    );
    for (const path of ['/providers/configs', '/markets/active', '/candles', '/admin/ingest']) {
      expect(textOf(await world.ask(path, { on: 'companion', headers }))).toBe(NOT_FOUND);
    }
    for (const path of ['/', '/health', '/stream', '/v1/marks']) {
      expect(textOf(await world.ask(path, { on: 'stream' }))).toBe(NOT_FOUND);
    }
  });
});

describe('every reply', () => {
  it('has an id and a version, and must not be cached unless it says so', async () => {
    for (const path of ['/health', '/nothing', '/markets/active', '/markets/metadata']) {
      const reply = await world.ask(path, { headers: { 'x-request-id': 'mine' } });
      expect(reply.headers).toMatchObject({
        ...{ 'x-request-id': 'mine', 'x-data-version': '1', 'cache-control': 'no-store' },
        'content-type': 'application/json; charset=utf-8',
      });
      expect(reply.headers).not.toHaveProperty('etag');
    }
    const unnamed = await world.ask('/health', { headers: { 'x-request-id': 'a b' } });
    expect(unnamed.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('to HEAD is that to GET without its body', async () => {
    const got = await world.ask('/providers/configs');
    const pending = await world.ask('/providers/configs', { method: 'HEAD' });
    const of = ({ status, headers: all }: WorldReply): unknown => [status, all.etag, all['content-length']];
    expect(of(pending)).toEqual(of(got));
    expect(pending.text).toBe('');
    expect((await world.ask('/markets/details', { method: 'HEAD', headers })).status).toBe(405);
  });

  it('that may be cached has a weak entity tag, with which it can be revalidated', async () => {
    const first = await world.ask(METADATA, { headers });
    const { etag = '' } = first.headers;
    expect([first.status, first.headers['cache-control']]).toEqual([200, 'private, max-age=60']);
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    for (const named of [String(etag), String(etag).slice(2), `"x", ${String(etag)}`, '*']) {
      const again = await world.ask(METADATA, { headers: { ...headers, 'if-none-match': named } });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
      expect(again.headers).toMatchObject({ 'cache-control': 'private, max-age=60', 'x-data-version': '1' });
      expect(again.headers).toHaveProperty('x-ratelimit-remaining');
      expect(again.headers).toHaveProperty('x-data-as-of');
    }
    expect((await world.ask(METADATA, { headers: { ...headers, 'if-none-match': '"x"' } })).status).toBe(200);
  });
});

describe('headers', () => {
  const long = (bytes: number): string => 'x'.repeat(bytes);
  const request = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}\r\n`;

  it('may have 64 KiB with the request line; beyond that 431 and the connection closes', async () => {
    expect(await written(request(`/health?x=${long(60_000)}`))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await written(request('/health', `X-Long: ${long(60_000)}\r\n`))).toMatch(/^HTTP\/1\.1 200 /);
    const many = Array.from({ length: 1_500 }, (_, index) => `x-${index}: 1\r\n`).join('');
    expect(await written(request('/health', many))).toMatch(/^HTTP\/1\.1 200 /);
    const keptOpen = `GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ${long(66_000)}\r\n\r\n`;
    for (const text of [keptOpen, request(`/health?x=${long(66_000)}`)]) {
      const refused = await written(text);
      expect(refused).toMatch(/^HTTP\/1\.1 431 /);
      expect(refused).toMatch(/x-data-version: 1/);
      expect(refused).toMatch(/\{"detail":"Request headers too large"\}$/);
    }
  });

  it('that break the protocol are refused with the same body format', async () => {
    expect(await written('nonsense\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 [^]*\{"detail":"Malformed request"\}$/,
    );
  });
});

describe('a body', () => {
  const DETAILS = '/markets/details';
  const item = '{"market_id":"rain","provider_id":2}';
  const nested = (levels: number): string =>
    `{"x":${'['.repeat(levels)}${']'.repeat(levels)},"markets":[${item}]}`;
  const ask = (body: string, more: RequestHeaders = {}) =>
    world.ask(DETAILS, { method: 'POST', body, headers: { ...headers, ...more } });

  it('is read whatever its content type is, and unknown fields are ignored', async () => {
    for (const type of [
      'text/csv',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'x',
    ]) {
      expect((await ask(`{"markets":[${item}]}`, { 'content-type': type })).status).toBe(200);
    }
    expect(
      (await ask(`{"markets":[{"market_id":"rain","provider_id":2,"more":{"x":null}}],"more":[1.5]}`)).status,
    ).toBe(200);
    expect((await ask(nested(62))).status).toBe(200);
  });

  it.each([
    ['that is not JSON', '{', ['json_invalid', ['body']]],
    ['that is a list', `[${item}]`, ['json_invalid', ['body']]],
    ['with trailing data', `{"markets":[${item}]} x`, ['json_invalid', ['body']]],
    ['that is nested too deep', nested(64), ['json_invalid', ['body']]],
    ['that repeats a key', `{"markets":[${item}],"markets":[]}`, ['repeated', ['body', 'markets']]],
    ['that is missing', '', ['missing', ['body', 'markets']]],
    ['without its list', '{}', ['missing', ['body', 'markets']]],
    ['whose list is null', '{"markets":null}', ['missing', ['body', 'markets']]],
    ['whose list is not a list', '{"markets":{}}', ['list_type', ['body', 'markets']]],
    ['whose list is empty', '{"markets":[]}', ['too_short', ['body', 'markets']]],
    [
      'with text for a number',
      '{"markets":[{"market_id":"x","provider_id":"2"}]}',
      ['int_type', ['body', 'markets', 0, 'provider_id']],
    ],
    [
      'with a fraction',
      `{"markets":[${item},{"market_id":"x","provider_id":2.5}]}`,
      ['int_type', ['body', 'markets', 1, 'provider_id']],
    ],
    [
      'with an empty id',
      '{"markets":[{"market_id":"","provider_id":2}]}',
      ['string_too_short', ['body', 'markets', 0, 'market_id']],
    ],
  ])('%s cannot be read', async (_what, body, fault) => {
    const reply = await ask(body);
    expect(reply.status).toBe(422);
    const [type, loc] = fault;
    const anything: unknown = expect.anything();
    expect(reply.body).toEqual({
      detail: [{ type, loc, msg: anything, input: reply.text.endsWith('"input":null}]}') ? null : anything }],
    });
  });

  it('may have 1 MiB, and 8 MiB for candles', async () => {
    const large = JSON.stringify({ requests: [], more: 'x'.repeat(1_048_576) });
    expect((await ask(large)).status).toBe(413);
    const batch = await world.ask('/candles/batch', { method: 'POST', body: large, headers });
    expect(batch.status).toBe(422);
    const larger = await world.ask('/candles/batch', {
      method: 'POST',
      body: Buffer.alloc(8_388_609),
      headers,
    });
    expect(textOf(larger)).toBe('413 {"detail":"Request body too large"}');
  });
});

describe('freshness', () => {
  const shown = async (): Promise<unknown[]> => {
    const { headers: textOf } = await world.ask(METADATA, { headers });
    return [textOf['x-data-as-of'], textOf['x-data-stale']];
  };
  const AT = Date.UTC(2026, 10, 28, 9) * 1_000;

  it('is that of the provider, and stale data are marked', async () => {
    await world.say('venue_a', { asOf: AT + 1 });
    await eventually(async () => expect(await shown()).toEqual(['2026-11-28T09:00:00.000001Z', 'true']));
    await world.say('venue_a', { asOf: AT, isRecorded: true, state: 'paused' });
    await eventually(async () => expect(await shown()).toEqual(['2026-11-28T09:00:00Z', undefined]));
    await world.say('venue_a', { state: 'paused' });
    await eventually(async () => expect((await shown())[1]).toBe('true'));
    await world.say('venue_a', { isQuarantined: true });
    await eventually(async () => expect((await shown())[1]).toBe('true'));
    await world.say('venue_a', { asOf: null });
    await eventually(async () => expect(await shown()).toEqual([undefined, 'true']));
    await eventually(async () => {
      await world.say('venue_a');
      expect((await shown())[1]).toBeUndefined();
    });
  });
});

describe('a failure on our side', () => {
  const without = async (table: string, work: () => Promise<void>): Promise<void> => {
    const { pool } = world.ingest.database;
    await pool.query(`alter table data.${table} rename to away`);
    try {
      await work();
    } finally {
      await pool.query(`alter table data.away rename to ${table}`);
      world.faults.length = 0;
    }
  };

  it('reveals no details, must not be cached, and counts against the limit', async () => {
    await without('market_ids', async () => {
      const reply = await world.ask(METADATA, { headers });
      expect(textOf(reply)).toBe('500 {"detail":"An internal error occurred. Please try again later."}');
      expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-data-version': '1' });
      expect(reply.headers).toHaveProperty('x-ratelimit-remaining');
      expect(world.faults).toHaveLength(1);
    });
    expect((await world.ask(METADATA, { headers })).status).toBe(200);
  });

  it('to read the freshness marks the data stale, and changes nothing else', async () => {
    await without('freshness', () =>
      eventually(async () => {
        const reply = await world.ask(METADATA, { headers });
        expect([reply.status, reply.headers['x-data-stale'], reply.headers['x-data-as-of']]).toEqual([
          ...[200, 'true', undefined],
        ]);
      }),
    );
  });
});

describe('readiness', () => {
  it('begins once all data are applied, and ends when the service drains', async () => {
    const ready = async (): Promise<string[]> =>
      Promise.all(
        (['data', 'companion'] as const).map(async (on) => textOf(await world.ask('/readyz', { on }))),
      );
    expect(await ready()).toEqual(Array(2).fill('503 {"status":"starting"}'));
    await world.begin();
    expect(await ready()).toEqual(Array(2).fill('200 {"status":"ready"}'));
    const other = await world.replica();
    other.stopping.abort();
    expect(textOf(await other.ask('/readyz'))).toBe('503 {"status":"draining"}');
    expect(textOf(await other.ask('/health'))).toBe('200 {"status":"ok"}');
    await other.stop();
  });
});

describe('a process that stops', () => {
  it('finishes the replies in flight and accepts no new request', async () => {
    const pending: ServerResponse[] = [];
    const venue = createServer((_request, response) => pending.push(response));
    await listen(venue, 0, '127.0.0.1');
    const address = venue.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    const upstreamUrls = { venue_a: `http://127.0.0.1:${address.port}` };
    const other = await world.replica({ upstreamUrls, upstreamTimeoutMillis: 5_000 });
    const reply = other.ask('/markets/metadata?provider=venue_a&ticker=elsewhere', { headers });
    await eventually(() => expect(pending).toHaveLength(1));
    const stopped = other.stop();
    await eventually(async () => expect(await other.ask('/health').catch(() => 'refused')).toBe('refused'));
    pending[0]?.writeHead(404).end();
    expect(textOf(await reply)).toBe('404 {"detail":"Market metadata not found: elsewhere"}');
    expect((await reply).headers.connection).toBe('close');
    await stopped;
    venue.close();
  });
});
