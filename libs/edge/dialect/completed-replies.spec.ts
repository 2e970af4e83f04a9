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

const ask = (path: string, ...headers: readonly string[]): Promise<RawReply> =>
  listener.ask([`GET ${path} HTTP/1.1`, 'Host: demo', 'Connection: close', ...headers, '\r\n'].join('\r\n'));
const TRADER = 'Authorization: Bearer trader';

describe('a dialect', () => {
  it('makes replies of what handlers throw, with the limits that were counted', async () => {
    const { status, body, headers } = await ask('/refuse', TRADER);
    expect([status, body, headers['x-ratelimit-remaining']]).toEqual([410, '{"detail":"thrown"}', '1']);
    expect(listener.faults).toEqual([]);
  });

  it('is not asked to hide failures, which were counted too', async () => {
    const { status, headers } = await ask('/fail', TRADER);
    expect([status, headers['x-ratelimit-remaining']]).toEqual([500, '1']);
    expect(listener.faults).toEqual([new Error('broken')]);
  });

  it('sees every reply last', async () => {
    for (const path of ['/refuse', '/fail', '/things/1', '/things/1?limit=0', '/nothing']) {
      expect((await ask(path, TRADER)).headers['x-completed']).toBe(path);
    }
    expect((await ask('/refuse')).headers['x-completed']).toBe('/refuse');
  });

  it('may take paths for what they encode', async () => {
    expect((await ask('/%74hings/a%2Fb%20c')).body).toBe('{"id":"a/b c"}');
    expect((await ask('/things%2Fa')).status).toBe(404);
    expect((await ask('/things/%zz')).status).toBe(404);
    expect((await ask('/things/%FF')).status).toBe(404);
  });

  it('may send weak tags', async () => {
    for (const named of ['W/"weak"', '"weak"', '"x", W/"weak"']) {
      expect((await ask('/things/a', `If-None-Match: ${named}`)).status).toBe(304);
    }
    expect((await ask('/things/a', 'If-None-Match: "W/weak"')).status).toBe(200);
  });
});
