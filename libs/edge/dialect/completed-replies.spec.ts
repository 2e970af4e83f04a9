import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { integerParam, query } from '../decoding/query.js';
import { bind, type BoundEndpoint, endpoint } from '../endpoint.js';
import { DemoListener } from '../fixtures/demo-listener.js';
import { otherDialect } from '../fixtures/other-dialect.js';
import type { RawReply } from '../fixtures/raw-client.js';
import type { Dialect } from './dialect.js';

class Thrown extends Error {}

const session = { method: 'GET', access: 'session' } as const;
const endpoints: readonly BoundEndpoint[] = [
  bind(endpoint({ ...session, operationId: 'refuse', path: '/refuse' }), () => {
    throw new Thrown();
  }),
  bind(endpoint({ ...session, operationId: 'fail', path: '/fail' }), () => {
    throw new Error('broken');
  }),
  bind(
    endpoint({
      ...{ ...session, operationId: 'one', path: '/things/:id', access: 'public' },
      ids: { id: { fault: 'bad', accepts: () => true } },
      query: query('bad', { limit: integerParam(1, 9, 5) }),
    }),
    ({ ids }) => ({ status: 200, body: ids, headers: { etag: 'W/"weak"' } }),
  ),
];

const newDialect = (): Dialect => ({
  ...otherDialect(),
  decodesPaths: true,
  thrownReply: (error) => (error instanceof Thrown ? { status: 410, body: { detail: 'thrown' } } : undefined),
  complete: (reply, { url }) => ({ ...reply, headers: { ...reply.headers, 'x-completed': url ?? '' } }),
});

let listener: DemoListener;
beforeEach(async () => {
  listener = await DemoListener.start(endpoints, {}, { dialect: newDialect() });
});
afterEach(() => listener.close());

const get = (path: string, ...headers: readonly string[]): Promise<RawReply> =>
  listener.ask([`GET ${path} HTTP/1.1`, 'Host: demo', 'Connection: close', ...headers, '\r\n'].join('\r\n'));
const TRADER = 'Authorization: Bearer trader';

describe('a dialect', () => {
  it('turns refusals that handlers throw into replies, with their rate limits', async () => {
    const { status, body, headers } = await get('/refuse', TRADER);
    expect([status, body, headers['x-ratelimit-remaining']]).toEqual([410, '{"detail":"thrown"}', '1']);
    expect(listener.faults).toEqual([]);
  });

  it('leaves failures to the edge, which reports them and sends rate limits', async () => {
    const { status, headers } = await get('/fail', TRADER);
    expect([status, headers['x-ratelimit-remaining']]).toEqual([500, '1']);
    expect(listener.faults).toEqual([new Error('broken')]);
  });

  it('completes every reply last', async () => {
    for (const path of ['/refuse', '/fail', '/things/1', '/things/1?limit=0', '/nothing']) {
      expect((await get(path, TRADER)).headers['x-completed']).toBe(path);
    }
    expect((await get('/refuse')).headers['x-completed']).toBe('/refuse');
  });

  it('may decode percent-encoded paths', async () => {
    expect((await get('/%74hings/a%2Fb%20c')).body).toBe('{"id":"a/b c"}');
    expect((await get('/things%2Fa')).status).toBe(404);
    expect((await get('/things/%zz')).status).toBe(404);
    expect((await get('/things/%FF')).status).toBe(404);
  });

  it('may send weak tags', async () => {
    for (const tags of ['W/"weak"', '"weak"', '"x", W/"weak"']) {
      expect((await get('/things/a', `If-None-Match: ${tags}`)).status).toBe(304);
    }
    expect((await get('/things/a', 'If-None-Match: "W/weak"')).status).toBe(200);
  });
});
