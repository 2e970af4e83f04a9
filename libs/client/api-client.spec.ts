import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiClient, observed, type ObservedExchange, Unanswered } from './api-client.js';

let server: Server;
let client: ApiClient;
let connections: number;

/** Echoes requests. Never answers `/silent`, answers `/page` without JSON, and `/later` only when a second one waits. */
beforeEach(async () => {
  const waiting: ServerResponse[] = [];
  server = createServer((request, response) => {
    if (request.url === '/silent') return;
    if (request.url === '/page') response.writeHead(502).end('<html>');
    else if (request.url === '/later') {
      waiting.push(response);
      if (waiting.length === 2) for (const one of waiting) one.end('{}');
    } else void echo(request, response);
  });
  connections = 0;
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { token: 'secret' });
});
afterEach(() => {
  observed.by = undefined;
  client.close();
  server.closeAllConnections();
  server.close();
});

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  const id = headers['x-request-id'];
  if (id !== undefined) response.setHeader('x-request-id', id);
  response
    .writeHead(201)
    .end(JSON.stringify({ method, url, headers, sent: Buffer.concat(chunks).toString() }));
}

describe('the client', () => {
  it('sends token, key, request id and JSON, and returns status, headers and body', async () => {
    const request = { body: { a: 1 }, key: 'k', requestId: 'r' };
    const answer = await client.send<{ headers: object; sent: string }>('POST', '/x?y=1', request);
    expect([answer.status, answer.headers['x-request-id'], answer.body.sent]).toEqual([201, 'r', '{"a":1}']);
    expect(answer.body.headers).toMatchObject({ authorization: 'Bearer secret', 'idempotency-key': 'k' });
    expect(JSON.parse(answer.text)).toEqual(answer.body);
  });

  it('returns every status as an answer, and a body without JSON as text', async () => {
    expect(await client.get('/page')).toMatchObject({ status: 502, text: '<html>', body: undefined });
  });

  it('sends a new idempotency key with each post, and none for null', async () => {
    const keyOf = async (key?: null): Promise<unknown> => {
      const { body } = await client.post<{ headers: Record<string, string> }>('/x', {}, key);
      return body.headers['idempotency-key'];
    };
    const keys = [await keyOf(), await keyOf()];
    expect(new Set(keys).size).toBe(2);
    expect(await keyOf(null)).toBeUndefined();
  });

  it('reuses connections, and opens at most as many as allowed', async () => {
    await client.get('/x');
    await client.get('/x');
    expect(connections).toBe(1);
    await Promise.all([client.get('/later'), client.get('/later')]);
    expect(connections).toBe(2);
    const limited = new ApiClient(client.baseUrl, { maxSockets: 1 });
    await Promise.all([limited.get('/x'), limited.get('/x'), limited.get('/x')]);
    limited.close();
    expect(connections).toBe(3);
  });

  it('rejects with Unanswered when the server is silent past the timeout', async () => {
    await expect(client.send('GET', '/silent', { timeoutMs: 50 })).rejects.toThrow(Unanswered);
  });

  it('rejects at once when its signal is aborted', async () => {
    const stop = new AbortController();
    const asking = client.send('GET', '/silent', { signal: stop.signal });
    stop.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('rejects with the error of the connection if none can be opened', async () => {
    const nowhere = new ApiClient('http://127.0.0.1:1');
    await expect(nowhere.get('/x')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('reports its exchanges to the observer if there is one', async () => {
    const exchanges: ObservedExchange[] = [];
    const ignore = (): void => undefined;
    observed.by = { exchange: (one) => void exchanges.push(one), frame: ignore, closed: ignore };
    await client.post('/x', { a: 1 });
    expect(exchanges).toMatchObject([
      {
        method: 'POST',
        path: '/x',
        requestHeaders: { authorization: 'Bearer secret' },
        requestBody: '{"a":1}',
        status: 201,
      },
    ]);
  });
});
