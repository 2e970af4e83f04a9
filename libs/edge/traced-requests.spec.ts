import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { RecordedTracing, type RecordedSpan } from '#libs/testing/tracing/recorded-tracing.js';
import { bind, endpoint } from './endpoint.js';
import { AUCTION, demoEndpoints } from './fixtures/demo-endpoints.js';
import { DemoListener } from './fixtures/demo-listener.js';

const inner = endpoint({ operationId: 'inner', method: 'GET', path: '/inner', access: 'public' });

let tracing: RecordedTracing;
let listener: DemoListener;

beforeEach(async () => {
  tracing = new RecordedTracing();
  const asksAround = bind(inner, async () => {
    await Promise.resolve();
    tracing.child('asking around', 'client')?.end();
    return { status: 200, body: {} };
  });
  listener = await DemoListener.start([...demoEndpoints(), asksAround], {}, { tracing });
});
afterEach(() => listener.close());

async function spanOf(line: string, ...headers: readonly string[]): Promise<RecordedSpan> {
  const lines = [`${line} HTTP/1.1`, 'Host: demo', 'Connection: close', 'X-Request-Id: mine', ...headers];
  await listener.ask(`${lines.join('\r\n')}\r\n\r\n`);
  expect(tracing.spans[0]?.ended).toBe(true);
  return tracing.spans[0]!;
}

const TRADER = 'Authorization: Bearer trader';

it.each([
  [
    `GET /v1/auctions/${AUCTION}?`,
    TRADER,
    'GET /v1/auctions/{auctionID}',
    { route: '/v1/auctions/{auctionID}', operation: 'get', status: 200 },
  ],
  [
    `GET /v1/auctions/${AUCTION.replace('1', '2')}`,
    TRADER,
    'GET /v1/auctions/{auctionID}',
    { route: '/v1/auctions/{auctionID}', operation: 'get', status: 404, code: 'auction_not_found' },
  ],
  ['GET /v1/auctions', 'X-None: 1', 'GET', { status: 401, code: 'unauthorized' }],
  ['GET /a-secret', TRADER, 'GET', { status: 404, code: 'not_found' }],
  [
    'GET /v1/broken',
    TRADER,
    'GET /v1/broken',
    { route: '/v1/broken', operation: 'broken', status: 500, code: 'internal_error' },
  ],
])('%s (%s) is the span %s', async (line, header, name, facts) => {
  const span = await spanOf(line, header);
  expect([span.name, span.kind]).toEqual([name, 'server']);
  expect(span.facts).toEqual({ method: 'GET', requestId: 'mine', ...facts });
});

it('a request begins a trace of its own and ignores the trace of the caller', async () => {
  const { partOf } = await spanOf(
    'GET /healthz',
    `traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    'tracestate: a=b',
  );
  expect([partOf, tracing.spans.length]).toEqual([undefined, 1]);
});

it('the span of a request is the parent of the work of its endpoint', async () => {
  await spanOf('GET /inner');
  expect(tracing.lines).toEqual(['GET /inner', 'asking around < GET']);
});

it('an untraced request gets the same reply', async () => {
  tracing.tracesRoots = false;
  const reply = await listener.ask('GET /inner HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n');
  expect([reply.status, tracing.spans]).toEqual([200, []]);
});
