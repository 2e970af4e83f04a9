import { afterEach, describe, expect, it } from '@jest/globals';
import { bind, endpoint, type BoundEndpoint } from './endpoint.js';
import { demoEndpoints } from './fixtures/demo-endpoints.js';
import { DemoListener } from './fixtures/demo-listener.js';
import type { RawClient } from './fixtures/raw-client.js';
import { query } from './decoding/query.js';

const COST_MS = 2;
const PAGE_BYTES = 50_000;
/** When this many requests have started, all connections have been accepted. */
const MANY_STARTED = 300;
const READERS = 300;
const A_FEW = 50;
const ANSWER_BYTES = 8_000_000;
const DOCUMENT_BYTES = 430_000;

const page = endpoint({
  operationId: 'page',
  method: 'GET',
  path: '/v1/page',
  access: 'session',
  query: query('invalid_page', {}),
});
const huge = endpoint({ operationId: 'huge', method: 'GET', path: '/huge', access: 'public' });

const document = endpoint({ operationId: 'document', method: 'GET', path: '/document', access: 'public' });

let started = 0;
let listener: DemoListener | undefined;
const readers: RawClient[] = [];

afterEach(async () => {
  for (const client of readers.splice(0)) client.close();
  await listener?.close();
  listener = undefined;
  started = 0;
});

/** A page whose rows come from another system and take time to assemble. */
const pages: BoundEndpoint = bind(page, async () => {
  started += 1;
  await new Promise((resolve) => setImmediate(resolve));
  for (const until = performance.now() + COST_MS; performance.now() < until;);
  return { status: 200, body: { x: 'x'.repeat(PAGE_BYTES) } };
});

const answers: BoundEndpoint = bind(huge, () => {
  started += 1;
  return { status: 200, body: `"${'x'.repeat(ANSWER_BYTES)}"` };
});

const documents: BoundEndpoint = bind(document, () => {
  started += 1;
  return { status: 200, body: `"${'x'.repeat(DOCUMENT_BYTES)}"` };
});

async function start(unreadBytes?: number): Promise<DemoListener> {
  const changed = unreadBytes === undefined ? {} : { unreadBytes };
  listener = await DemoListener.start([...demoEndpoints(), pages, answers, documents], changed);
  return listener;
}

const request = (path: string, caller: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer ${caller}\r\n${more}\r\n`;

/** Sends requests and never reads. */
function openSilently(on: DemoListener, requests: string): RawClient {
  const client = on.connect();
  client.socket.pause();
  readers.push(client.send(requests));
  return client;
}

/** The number of requests that started, of any caller, until another caller got its reply. */
async function startedBeforeReply(on: DemoListener): Promise<number> {
  const before = started;
  expect((await on.ask(request('/v1/page', 'viewer', 'Connection: close\r\n'))).status).toBe(200);
  return started - before;
}

const millis = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count));

describe('a client that does not read', () => {
  it('has no further request started until it reads its reply', async () => {
    const on = await start();
    openSilently(on, request('/huge', 'trader').repeat(20));
    await millis(300);
    expect(started).toBeLessThanOrEqual(2);
  });

  it('delays another caller by only a few of its many requests', async () => {
    const on = await start();
    for (let count = 0; count < 50; count += 1) openSilently(on, request('/v1/page', 'trader').repeat(30));
    while (started < MANY_STARTED) await millis(1);
    const waits: number[] = [];
    for (let count = 0; count < 5; count += 1) waits.push(await startedBeforeReply(on));
    expect(Math.max(...waits)).toBeLessThanOrEqual(A_FEW);
  });

  it('delays no other caller much with documents that need no token', async () => {
    const on = await start();
    for (let count = 0; count < READERS; count += 1)
      openSilently(on, 'GET /document HTTP/1.1\r\nHost: demo\r\n\r\n'.repeat(20));
    while (started < MANY_STARTED) await millis(1);
    // Of 6,000 requests, at most one runs on each connection, and as many again start meanwhile.
    expect(await startedBeforeReply(on)).toBeLessThanOrEqual(2 * READERS);
  });

  it('is disconnected first if too many bytes are unread in total', async () => {
    const on = await start(2.5 * ANSWER_BYTES);
    const first = openSilently(on, request('/huge', 'trader'));
    await millis(50);
    const others = [openSilently(on, request('/huge', 'trader'))];
    await millis(50);
    others.push(openSilently(on, request('/huge', 'trader')), openSilently(on, request('/huge', 'trader')));
    await millis(100);
    const whole = on.ask(request('/huge', 'viewer', 'Connection: close\r\n'));
    expect((await whole).body).toHaveLength(ANSWER_BYTES + 2);
    first.socket.resume();
    const [reply] = await first.untilClosed();
    expect(reply?.body.length).toBeLessThan(ANSWER_BYTES);
    const last = others.at(-1);
    last?.socket.resume();
    await last?.until('x"');
  });
});
