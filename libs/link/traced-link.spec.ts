import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import { eventually } from '#libs/testing/eventually.js';
import { RecordedTracing } from '#libs/testing/tracing/recorded-tracing.js';
import { LinkClient } from './link-client.js';
import { fault, LINK_PATH, reply, type LinkReply } from './link-protocol.js';
import { LinkServer } from './link-server.js';

interface TestRequest {
  readonly op: 'echo';
  readonly request_id: string;
}

const TOKEN = 'a-service-token';
const SHARD = 2;
const REQUEST: TestRequest = { op: 'echo', request_id: 'r-1' };
const clock = new SystemClock();

let server: Server;
let port: number;
let link: LinkClient<TestRequest>;
/** The tracing of the client's process and of the server's. */
let clientTracing: RecordedTracing;
let serverTracing: RecordedTracing;

beforeEach(async () => {
  [port = 0] = await pickPorts(1);
  server = createServer();
  await listen(server, port, '127.0.0.1');
  clientTracing = new RecordedTracing();
  serverTracing = new RecordedTracing();
});

afterEach(() => {
  link.close();
  server.close();
  server.closeAllConnections();
});

async function openLink(tracing?: Tracing): Promise<void> {
  link = new LinkClient({
    url: `http://127.0.0.1:${port}`,
    serviceToken: () => TOKEN,
    peer: 'gateway-0',
    clock,
    timeoutMillis: 300,
    ...(tracing === undefined ? {} : { trace: { tracing, shard: SHARD } }),
  });
  await eventually(() => expect(link.connected).toBe(true));
}

function startServer(handle: () => Promise<LinkReply>, tracing?: Tracing): void {
  const end = new LinkServer<TestRequest>({
    serviceTokens: () => [TOKEN],
    handle,
    onFault: () => undefined,
    clock,
    ...(tracing === undefined ? {} : { tracing }),
  });
  end.attach(server);
}

/** A server of a version without tracing: reads two parts of an entry, and records the frames. */
function untracedServer(): string[] {
  const frames: string[] = [];
  new WebSocketServer({ server, path: LINK_PATH }).on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      frames.push(data.toString());
      const entries = JSON.parse(data.toString()) as [number, TestRequest][];
      socket.send(JSON.stringify(entries.map(([id]) => [id, 200, '{}'])));
    });
  });
  return frames;
}

function withinRequest<T>(work: () => Promise<T>): Promise<T> {
  return clientTracing.within(clientTracing.root('request', 'server')!, work);
}

describe('a traced request', () => {
  it('has a span at both ends, the client span as parent, and is handled within it', async () => {
    startServer(() => {
      expect(serverTracing.current?.name).toBe('echo');
      return Promise.resolve(reply(200, {}));
    }, serverTracing);
    await openLink(clientTracing);
    expect(await withinRequest(() => link.request(REQUEST))).toEqual({ status: 200, body: '{}' });
    expect(clientTracing.lines).toEqual(['request (open)', 'echo < request']);
    const clientSpan = clientTracing.spans[1]!;
    expect([clientSpan.kind, clientSpan.facts]).toEqual([
      'client',
      { operation: 'echo', shard: SHARD, status: 200 },
    ]);
    expect(serverTracing.lines).toEqual([`echo < ${clientSpan.traceparent}`]);
    expect(serverTracing.spans[0]!.facts).toEqual({ operation: 'echo', requestId: 'r-1', status: 200 });
  });

  it('records the status and code of a refusal in both spans', async () => {
    startServer(() => Promise.resolve(fault(429, 'auction_mutation_rate_limited')), serverTracing);
    await openLink(clientTracing);
    await withinRequest(() => link.request(REQUEST));
    for (const span of [clientTracing.spans[1]!, serverTracing.spans[0]!]) {
      expect(span.facts).toMatchObject({ status: 429, code: 'auction_mutation_rate_limited' });
    }
  });

  it('ends its span at both ends after a fault', async () => {
    startServer(() => Promise.reject(new Error('a fault that the caller never sees')), serverTracing);
    await openLink(clientTracing);
    await withinRequest(() => link.request(REQUEST));
    expect(serverTracing.spans[0]!.facts).toMatchObject({ status: 500, code: 'internal_error' });
    expect(
      [...clientTracing.lines, ...serverTracing.lines].filter((line) => line.endsWith('(open)')),
    ).toEqual(['request (open)']);
  });

  it('ends its span when no reply comes', async () => {
    startServer(() => new Promise(() => undefined), serverTracing);
    await openLink(clientTracing);
    await expect(withinRequest(() => link.request(REQUEST))).rejects.toThrow('no answer in time');
    expect(clientTracing.spans[1]!.facts).toMatchObject({ status: 503, code: 'LinkUnavailable' });
    expect(clientTracing.spans[1]!.ended).toBe(true);
  });

  it('is understood by a peer of an earlier version', async () => {
    const frames = untracedServer();
    await openLink(clientTracing);
    const answer = await withinRequest(() => link.request(REQUEST));
    expect(answer.status).toBe(200);
    expect(JSON.parse(frames[0]!)).toEqual([[1, REQUEST, clientTracing.spans[1]!.traceparent]]);
  });

  it('is answered by a server without tracing', async () => {
    startServer(() => Promise.resolve(reply(200, {})));
    await openLink(clientTracing);
    expect((await withinRequest(() => link.request(REQUEST))).status).toBe(200);
  });
});

describe('an untraced request', () => {
  it.each([
    ['outside any span', () => clientTracing],
    ['in a process without tracing', () => undefined],
  ])('%s is sent with two parts', async (_which, tracing) => {
    const frames = untracedServer();
    await openLink(tracing());
    await link.request(REQUEST);
    expect(frames).toEqual([`[[1,${JSON.stringify(REQUEST)}]]`]);
  });

  it('begins no span at the server', async () => {
    startServer(() => Promise.resolve(reply(200, {})), serverTracing);
    await openLink(clientTracing);
    await link.request(REQUEST);
    expect(serverTracing.spans).toEqual([]);
  });
});
