import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerLimits } from './server-limits.js';
import { demoEndpoints } from '../fixtures/demo-endpoints.js';
import { DemoListener } from '../fixtures/demo-listener.js';
import type { RawReply } from '../fixtures/raw-client.js';

const MIB = 1_048_576;
const QUICK: Partial<ServerLimits> = {
  headersTimeout: 150,
  requestTimeout: 300,
  timeoutCheckInterval: 25,
  lingerTimeout: 200,
};
const GET = 'GET /healthz HTTP/1.1\r\nHost: demo\r\n\r\n';
const LAST = 'GET /healthz HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n';
const POST =
  'POST /v1/auctions HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer trader\r\nIdempotency-Key: k\r\n';
const BODY = '{"price_atoms":1}';

let listener: DemoListener | undefined;
let drip: NodeJS.Timeout | undefined;
afterEach(async () => {
  clearInterval(drip);
  await listener?.close();
  listener = undefined;
});

async function start(
  overrides: Partial<ServerLimits> = QUICK,
  hold?: () => Promise<void>,
): Promise<DemoListener> {
  listener = await DemoListener.start(demoEndpoints(hold), overrides);
  return listener;
}

const statuses = (replies: readonly RawReply[]): number[] => replies.map(({ status }) => status);

function expectRefusal(reply: RawReply | undefined, status: number, code: string): void {
  expect([reply?.status, reply?.body]).toEqual([status, `{"error":"${code}"}`]);
  expect(reply?.headers).toMatchObject({
    'x-request-id': expect.stringMatching(/^fresh-/),
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
  });
}

/** Other clients must not be affected by any limit. */
async function expectAlive(on: DemoListener): Promise<void> {
  expect((await on.ask(LAST)).status).toBe(200);
}

describe('a malformed request', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['TLS', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: demo\r\n\r\n'],
    ['a bad header name', 'GET / HTTP/1.1\r\nHost: demo\r\nX Y: z\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost: demo\r\nX-Service-Token : z\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: demo\r\nX: a\0b\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: demo\r\n X: y\r\n\r\n'],
    ['bare line feeds and a space target', 'GET  / HTTP/1.1\n\n'],
    ['two lengths', `${POST}Content-Length: 17\r\nContent-Length: 18\r\n\r\n${BODY}`],
    ['two equal lengths', `${POST}Content-Length: 17\r\nContent-Length: 17\r\n\r\n${BODY}`],
    ['a length with a sign', `${POST}Content-Length: +17\r\n\r\n${BODY}`],
    ['a length and chunks', `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunks not last', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['an unknown transfer encoding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: demo\r\nHost: other\r\n\r\n'],
    ['the same host twice', 'GET /healthz HTTP/1.1\r\nHost: demo\r\nhost: demo\r\n\r\n'],
    ['two hosts of an older version', 'GET /healthz HTTP/1.0\r\nHost: demo\r\nHost: other\r\n\r\n'],
    ['two hosts in one', 'GET /healthz HTTP/1.1\r\nHost: demo, other\r\n\r\n'],
    ['a host with a path', 'GET /healthz HTTP/1.1\r\nHost: demo/healthz\r\n\r\n'],
    ['a host with a user', 'GET /healthz HTTP/1.1\r\nHost: me@demo\r\n\r\n'],
    ['chunks of an older version', 'GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('with %s is refused in the envelope', async (_what, bytes) => {
    const on = await start();
    expectRefusal(await on.ask(bytes), 400, 'malformed_request');
    await expectAlive(on);
  });

  it.each(['demo:8080', '[::1]:8080', '127.0.0.1', 'demo.example:', ''])(
    'is not one with the host %j',
    async (host) => {
      const on = await start();
      const reply = await on.ask(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(reply.status).toBe(200);
    },
  );

  it.each(['gzip, chunked', 'identity, chunked'])(
    'is not one with %s, which is refused as unsupported',
    async (coding) => {
      const on = await start();
      const bytes = `${POST}Transfer-Encoding: ${coding}\r\n\r\n11\r\n${BODY}\r\n0\r\n\r\n`;
      expectRefusal(await on.ask(bytes), 501, 'unsupported_transfer_coding');
      await expectAlive(on);
    },
  );

  it('with a bad head closes the connection before the next request', async () => {
    const on = await start();
    const smuggled = 'GET /v1/auctions HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer trader\r\n\r\n';
    const client = on.connect().send(`GET /healthz HTTP/1.1\r\nHost: demo\r\nHost: other\r\n\r\n`);
    client.send(smuggled);
    expect(statuses(await client.untilClosed())).toEqual([400]);
  });

  it('after a valid request does not prevent the reply to that request', async () => {
    const on = await start();
    const replies = await on.connect().send(`${GET}!!!\r\n\r\n${GET}`).untilClosed();
    expect(statuses(replies)).toEqual([200, 400]);
    expectRefusal(replies[1], 400, 'malformed_request');
  });

  it('after a running request is refused after the reply to that one', async () => {
    let release = (): void => undefined;
    const on = await start(QUICK, () => new Promise((resolve) => (release = resolve)));
    const client = on.connect().send(`GET /held HTTP/1.1\r\nHost: demo\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.send('!!!\r\n\r\n!!!\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    const replies = await client.untilClosed();
    expect(replies.map(({ body }) => body)).toEqual(['{"held":true}', '{"error":"malformed_request"}']);
  });

  it('in the chunks of a body is reported in the reply to that request', async () => {
    const on = await start();
    const replies = await on.connect().send(`${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`).untilClosed();
    expect(replies).toHaveLength(1);
    expectRefusal(replies[0], 400, 'malformed_request');
  });

  it('smuggled after a body is not read as a request', async () => {
    const on = await start();
    const hidden = 'GET /v1/auctions HTTP/1.1\r\nHost: demo\r\nAuthorization: Bearer trader\r\n\r\n';
    const both = 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n';
    const replies = await on.connect().send(`${POST}${both}0\r\n\r\n${hidden}`).untilClosed();
    expect(statuses(replies)).toEqual([400]);
  });

  it('with the method CONNECT is refused, also with internal headers', async () => {
    const on = await start();
    expectRefusal(await on.ask('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'), 405, 'method_not_allowed');
    const internal = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nx-peer: x\r\n\r\n';
    expectRefusal(await on.ask(internal), 403, 'internal_header');
  });
});

describe('headers', () => {
  it('longer than 16 KiB are refused with 431', async () => {
    const on = await start();
    expectRefusal(
      await on.ask(`GET /healthz HTTP/1.1\r\nHost: demo\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`),
      431,
      'request_headers_too_large',
    );
    expectRefusal(await on.ask(`GET /${'x'.repeat(17_000)} HTTP/1.1\r\n`), 431, 'request_headers_too_large');
    await expectAlive(on);
  });

  it('of more than a hundred lines are refused with 431', async () => {
    const on = await start();
    const many = (count: number): string => Array.from({ length: count }, () => 'a: 1\r\n').join('');
    const head = 'GET /healthz HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n';
    expect((await on.ask(`${head}${many(98)}\r\n`)).status).toBe(200);
    expect((await on.ask(`${head}${many(99)}\r\n`)).status).toBe(431);
  });
});

describe('slow and half-open clients', () => {
  it.each([
    ['send nothing', ''],
    ['stop in the headers', 'GET /healthz HTTP/1.1\r\nHost: de'],
    ['stop after a good request', `${GET}GET /hea`],
  ])('that %s are closed with 408', async (_what, bytes) => {
    const on = await start();
    expectRefusal((await on.connect().send(bytes).untilClosed()).at(-1), 408, 'request_timeout');
    await expectAlive(on);
  });

  it.each([
    ['an announced body', 'Content-Length: 17\r\n\r\n{"pri'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"pri\r\n'],
  ])('that stop within %s are closed with 408', async (_what, rest) => {
    const on = await start();
    const replies = await on
      .connect()
      .send(POST + rest)
      .untilClosed();
    expect(replies).toHaveLength(1);
    expectRefusal(replies[0], 408, 'request_timeout');
  });

  it('that send one byte at a time are closed with 408 too', async () => {
    const on = await start();
    const client = on.connect().send(`${POST}Content-Length: 1000\r\n\r\n`);
    drip = setInterval(() => client.send(' '), 20);
    expectRefusal((await client.untilClosed()).at(-1), 408, 'request_timeout');
  });

  it('that close their side after the request get their reply', async () => {
    let release = (): void => undefined;
    const on = await start(QUICK, () => new Promise((resolve) => (release = resolve)));
    const client = on.connect();
    client.socket.end('GET /held HTTP/1.1\r\nHost: demo\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    expect((await client.untilClosed())[0]?.body).toBe('{"held":true}');
  });

  it('that close their side within a body get a refusal', async () => {
    const on = await start();
    const client = on.connect();
    client.socket.end(`${POST}Content-Length: 17\r\n\r\n{"pri`);
    expectRefusal((await client.untilClosed())[0], 400, 'malformed_request');
  });

  it('that vanish within a body are not logged as a fault', async () => {
    const on = await start();
    const client = on.connect().send(`${POST}Content-Length: 17\r\n\r\n{"pri`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(on.answered.at(-1)).toMatchObject({ operationId: 'create', status: 400 });
    expect(on.faults).toEqual([]);
  });

  it('that do not read their reply are disconnected', async () => {
    const on = await start({ ...QUICK, sendTimeout: 200 });
    const client = on.connect();
    client.socket.pause();
    client.send('GET /large HTTP/1.1\r\nHost: demo\r\n\r\n'.repeat(10));
    await new Promise((resolve) => setTimeout(resolve, 600));
    client.socket.resume();
    let text = 0;
    client.socket.on('data', (chunk: string) => (text += chunk.length));
    await new Promise((resolve) => client.socket.once('close', resolve));
    expect(text).toBeLessThan(10 * 2_000_000);
    await expectAlive(on);
  });
});

describe('bodies', () => {
  it('that are announced too large are refused before they arrive', async () => {
    const on = await start();
    const reply = await on.ask(`${POST}Content-Length: ${MIB + 1}\r\n\r\n`);
    expectRefusal(reply, 413, 'payload_too_large');
  });

  it('that are too large are discarded, so that a client that sends first still gets its reply', async () => {
    const on = await start({ ...QUICK, requestTimeout: 5_000, lingerTimeout: 2_000 });
    const client = on.connect();
    client.socket.pause();
    const size = 4 * MIB - 1_000;
    client.socket.write(`${POST}Content-Length: ${size}\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => client.socket.write('x'.repeat(size), resolve));
    client.socket.resume();
    expectRefusal((await client.untilClosed())[0], 413, 'payload_too_large');
  });

  it('that are too large in chunks are refused while they arrive, and the reply arrives', async () => {
    const on = await start();
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const client = on.connect().send(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent < 20; sent += 1) client.send(chunk);
    expectRefusal((await client.untilClosed())[0], 413, 'payload_too_large');
  });

  it('that never end are cut off', async () => {
    const on = await start({ ...QUICK, lingerBytes: 200_000, requestTimeout: 60_000, lingerTimeout: 30_000 });
    const client = on.connect().send(`${POST}Transfer-Encoding: chunked\r\n\r\n`);
    drip = setInterval(() => client.send(`10000\r\n${'x'.repeat(65_536)}\r\n`), 1);
    await new Promise((resolve) => client.socket.once('close', resolve));
    await expectAlive(on);
  });

  it('of exactly one mebibyte are accepted in chunks', async () => {
    const on = await start();
    const chunks = `100000\r\n${BODY.padEnd(MIB)}\r\n0\r\n\r\n`;
    expect(
      (await on.ask(`${POST}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`)).status,
    ).toBe(201);
  });

  it('that are longer than announced are treated as a second, malformed request', async () => {
    const on = await start();
    const replies = await on
      .connect()
      .send(`${POST}Content-Length: 17\r\n\r\n${BODY}{"more":1}`)
      .untilClosed();
    expect(statuses(replies)).toEqual([201, 400]);
  });

  it('of a refused request are skipped, and the connection is kept', async () => {
    const on = await start();
    const client = on
      .connect()
      .send('POST /v1/auctions HTTP/1.1\r\nHost: demo\r\nContent-Length: 17\r\n\r\n');
    await client.until('unauthorized');
    const replies = await client.send(BODY + LAST).untilClosed();
    expect(statuses(replies)).toEqual([401, 200]);
  });

  it('of a refused request close the connection if they are large', async () => {
    const on = await start();
    const head = 'POST /v1/auctions HTTP/1.1\r\nHost: demo\r\nContent-Length: 900000\r\n\r\n';
    const replies = await on
      .connect()
      .send(head + 'x'.repeat(900_000) + LAST)
      .untilClosed();
    expect(statuses(replies)).toEqual([401]);
    expect(replies[0]?.headers.connection).toBe('close');
  });

  it('are requested with 100 Continue only if they will be read', async () => {
    const on = await start();
    const expecting = `${POST}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 17\r\n`;
    const client = on.connect().send(`${expecting}\r\n`);
    await client.until('100 Continue');
    expect(statuses(await client.send(BODY).untilClosed())).toEqual([100, 201]);
    const refused = await on.connect().send(`${expecting}Content-Type: text/plain\r\n\r\n`).untilClosed();
    expect(statuses(refused)).toEqual([415]);
  });

  it('are read if the client has an unknown expectation', async () => {
    const on = await start();
    const head = `${POST}Expect: a-miracle\r\nConnection: close\r\nContent-Length: 17\r\n\r\n`;
    expect((await on.ask(head + BODY)).status).toBe(201);
  });
});

describe('connections', () => {
  it('answer pipelined requests in order', async () => {
    const on = await start();
    const ids = ['a', 'b', 'c'];
    const requests = ids.map((id) => GET.replace('\r\n\r\n', `\r\nX-Request-Id: ${id}\r\n\r\n`));
    const replies = await on
      .connect()
      .send(requests.join('') + LAST)
      .untilClosed();
    expect(replies.slice(0, 3).map(({ headers }) => headers['x-request-id'])).toEqual(ids);
  });

  it('run one request at a time, and refuse more than a bounded queue', async () => {
    let running = 0;
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const on = await start({ ...QUICK, pipelinedRequests: 4 }, () => {
      running += 1;
      return gate;
    });
    const client = on.connect().send('GET /held HTTP/1.1\r\nHost: demo\r\n\r\n'.repeat(100));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(running).toBe(1);
    release();
    const replies = await client.untilClosed();
    expect(statuses(replies)).toEqual([200, 200, 200, 200, 503]);
    expectRefusal(replies[4], 503, 'too_many_pipelined_requests');
    expect(running).toBe(4);
  });

  it('share one bound on waiting requests, and each may run one', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const on = await start({ ...QUICK, waitingRequests: 3 }, () => gate);
    const request = 'GET /held HTTP/1.1\r\nHost: demo\r\n\r\n';
    const greedy = on.connect().send(request.repeat(5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const late = on.connect().send(request.repeat(2));
    const modest = on.connect().send(request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    expect(statuses(await greedy.untilClosed())).toEqual([200, 200, 200, 200, 503]);
    expect(statuses(await late.untilClosed())).toEqual([200, 503]);
    expect(statuses(await modest.untilClosed())).toEqual([200]);
    const again = on.connect().send(request.repeat(4)).send(LAST);
    expect(statuses(await again.untilClosed())).toEqual([200, 200, 200, 200, 503]);
  });

  it('that are reset do not start their waiting requests', async () => {
    let running = 0;
    let release = (): void => undefined;
    const on = await start(QUICK, () => {
      running += 1;
      return new Promise((resolve) => (release = resolve));
    });
    const client = on.connect().send('GET /held HTTP/1.1\r\nHost: demo\r\n\r\n'.repeat(3));
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(running).toBe(1);
  });

  it('close gracefully after their maximum of requests', async () => {
    const on = await start({ ...QUICK, requestsPerConnection: 3 });
    const replies = await on.connect().send(GET.repeat(5)).untilClosed();
    expect(statuses(replies)).toEqual([200, 200, 200]);
    expect(replies.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive', 'close']);
  });

  it('are bounded in number', async () => {
    const on = await start({ ...QUICK, headersTimeout: 5_000, requestTimeout: 5_000, connections: 3 });
    const clients = [on.connect(), on.connect(), on.connect()];
    for (const client of clients) await client.send(GET).until('"ok"');
    expect(await on.connect().send(GET).untilClosed()).toEqual([]);
    for (const client of clients) client.close();
  });

  it('are bounded for each address', async () => {
    const on = await start({
      ...QUICK,
      headersTimeout: 5_000,
      requestTimeout: 5_000,
      connectionsPerAddress: 2,
    });
    const clients = [on.connect(), on.connect()];
    for (const client of clients) await client.send(GET).until('"ok"');
    expect(await on.connect().send(GET).untilClosed()).toEqual([]);
    clients[0]?.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expectAlive(on);
    clients[1]?.close();
  });

  it('are closed when idle', async () => {
    const on = await start({ ...QUICK, keepAliveTimeout: 100 });
    expect(statuses(await on.connect().send(GET).untilClosed())).toEqual([200]);
  });
});
