import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoEndpoints } from './fixtures/demo-endpoints.js';
import { DemoListener } from './fixtures/demo-listener.js';
import type { RawClient, RawReply } from './fixtures/raw-client.js';

const LIMITS = {
  partingTimeout: 300,
  lastBodyTimeout: 600,
  lastAnswerTimeout: 1_500,
  lingerTimeout: 100,
  requestTimeout: 60_000,
  headersTimeout: 60_000,
};
const SHORT_MS = 50;
const GET = 'GET /healthz HTTP/1.1\r\nHost: demo\r\n\r\n';
const HELD = 'GET /held HTTP/1.1\r\nHost: demo\r\n\r\n';
const POST =
  'POST /v1/auctions HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer trader\r\nIdempotency-Key: k\r\n';
const BODY = '{"price_atoms":1}';

let listener: DemoListener;
let release: () => void;
afterEach(() => listener.close());

async function start(): Promise<DemoListener> {
  const gate = new Promise<void>((resolve) => (release = resolve));
  listener = await DemoListener.start(
    demoEndpoints(() => gate),
    LIMITS,
  );
  return listener;
}

async function idleConnection(): Promise<RawClient> {
  const client = listener.connect().send(GET);
  await client.until('"ok"');
  return client;
}

const outcomes = (replies: readonly RawReply[]): (string | number | undefined)[][] =>
  replies.map(({ status, headers }) => [status, headers.connection]);

async function millisUntil(end: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await end;
  return performance.now() - started;
}

describe('a listener that stops', () => {
  it('stops at once without connections', async () => {
    const on = await start();
    expect(await millisUntil(on.stop())).toBeLessThan(LIMITS.partingTimeout);
  });

  it('answers earlier requests, and closes the connection after the reply', async () => {
    const on = await start();
    const client = on.connect().send(HELD);
    await sleep(SHORT_MS);
    const stopped = on.stop();
    await sleep(LIMITS.partingTimeout + SHORT_MS);
    release();
    expect(outcomes(await client.untilClosed())).toEqual([[200, 'close']]);
    expect(await stopped).toBe(0);
  });

  it('answers all queued requests, and announces the close with the last reply', async () => {
    const on = await start();
    const client = on.connect().send(HELD + GET + GET);
    await sleep(SHORT_MS);
    const stopped = on.stop();
    release();
    expect(outcomes(await client.untilClosed())).toEqual([
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'close'],
    ]);
    expect(await stopped).toBe(0);
  });

  it('answers requests during the grace period, on persistent connections and on new ones', async () => {
    const on = await start();
    const clients = [await idleConnection(), await idleConnection()];
    const stopped = on.stop();
    await sleep(SHORT_MS);
    clients.push(on.connect());
    for (const client of clients) client.send(GET);
    const replies = await Promise.all(clients.map((client) => client.untilClosed()));
    expect(replies.map((each) => each.at(-1)?.headers.connection)).toEqual(['close', 'close', 'close']);
    expect(replies.map((each) => each.length)).toEqual([2, 2, 1]);
    expect(await stopped).toBe(0);
  });

  it('answers every client that connected before it closed, even if not accepted yet', async () => {
    const on = await start();
    const clients = Array.from({ length: 30 }, () => on.connect().send(GET));
    expect(await on.stop()).toBe(0);
    const replies = await Promise.all(clients.map((client) => client.untilClosed()));
    expect(replies.map(outcomes)).toEqual(clients.map(() => [[200, 'close']]));
  });

  it('closes connections that are idle, silent, or stuck within a head', async () => {
    const on = await start();
    const client = await idleConnection();
    const silent = on.connect();
    const half = on.connect().send('GET /healthz HTTP/1.1\r\nHost: de');
    await sleep(SHORT_MS);
    const stopping = on.stop();
    await sleep(SHORT_MS);
    const late = on.connect();
    expect(await millisUntil(stopping)).toBeLessThan(2 * LIMITS.partingTimeout);
    expect(await stopping).toBe(0);
    expect(outcomes(await client.untilClosed())).toEqual([[200, 'keep-alive']]);
    for (const one of [silent, half, late]) expect(await one.untilClosed()).toEqual([]);
  });

  it('reads a body in transit to its end', async () => {
    const on = await start();
    const client = on.connect().send(`${POST}Content-Length: 17\r\n\r\n{"pri`);
    await sleep(SHORT_MS);
    const stopped = on.stop();
    await sleep(LIMITS.partingTimeout + SHORT_MS);
    client.send(BODY.slice(5));
    expect(outcomes(await client.untilClosed())).toEqual([[201, 'close']]);
    expect(await stopped).toBe(0);
  });

  it.each([
    ['before the stop', 0],
    ['during the grace period', SHORT_MS],
  ])('does not wait long for a body that began %s', async (_when, delay) => {
    const on = await start();
    const client = await idleConnection();
    const head = `${POST}Content-Length: 17\r\n\r\n{"pri`;
    if (delay === 0) client.send(head);
    await sleep(SHORT_MS);
    const stopped = on.stop();
    await sleep(delay);
    if (delay > 0) client.send(head);
    expect(outcomes(await client.untilClosed()).at(-1)).toEqual([408, 'close']);
    expect(await stopped).toBe(0);
  });

  it('cuts off clients that do not read, and reports their number', async () => {
    const on = await start();
    const client = on.connect();
    client.socket.pause();
    client.send('GET /large HTTP/1.1\r\nHost: demo\r\n\r\n'.repeat(10));
    while (on.answered.length === 0) await sleep(SHORT_MS);
    const stopped = on.stop();
    expect(await millisUntil(stopped)).toBeLessThan(LIMITS.lastAnswerTimeout + 500);
    expect(await stopped).toBe(1);
    client.close();
  });
});
