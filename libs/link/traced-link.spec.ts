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

interface Asked {
  readonly op: 'echo';
  readonly request_id: string;
}

const TOKEN = 'a-service-token';
const SHARD = 2;
const ASKED: Asked = { op: 'echo', request_id: 'r-1' };
const clock = new SystemClock();

let server: Server;
let port: number;
let link: LinkClient<Asked>;
/** The tracers of the client's process and of the server's. */
let here: RecordedTracing;
let there: RecordedTracing;

beforeEach(async () => {
  [port = 0] = await pickPorts(1);
  server = createServer();
  await listen(server, port, '127.0.0.1');
  here = new RecordedTracing();
  there = new RecordedTracing();
});

afterEach(() => {
  link.close();
  server.close();
  server.closeAllConnections();
});

async function linked(tracing?: Tracing): Promise<void> {
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

function answers(handle: () => Promise<LinkReply>, tracing?: Tracing): void {
  const end = new LinkServer<Asked>({
    serviceTokens: () => [TOKEN],
    handle,
    onFault: () => undefined,
    clock,
    ...(tracing === undefined ? {} : { tracing }),
  });
  end.attach(server);
}

/** A peer from before tracing: reads two parts of an entry, and keeps what it receives. */
function formerServer(): string[] {
  const frames: string[] = [];
  new WebSocketServer({ server, path: LINK_PATH }).on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      frames.push(data.toString());
      const entries = JSON.parse(data.toString()) as [number, Asked][];
      socket.send(JSON.stringify(entries.map(([id]) => [id, 200, '{}'])));
    });
  });
  return frames;
}

function withinRequest<T>(work: () => Promise<T>): Promise<T> {
  return here.within(here.root('request', 'server')!, work);
}

describe('a traced request', () => {
  it('has a span at either end, one the parent of the other, and the work runs within it', async () => {
    answers(() => {
      expect(there.current?.name).toBe('echo');
      return Promise.resolve(reply(200, {}));
    }, there);
    await linked(here);
    expect(await withinRequest(() => link.request(ASKED))).toEqual({ status: 200, body: '{}' });
    expect(here.lines).toEqual(['request (open)', 'echo < request']);
    const asking = here.spans[1]!;
    expect([asking.kind, asking.facts]).toEqual(['client', { operation: 'echo', shard: SHARD, status: 200 }]);
    expect(there.lines).toEqual([`echo < ${asking.traceparent}`]);
    expect(there.spans[0]!.facts).toEqual({ operation: 'echo', requestId: 'r-1', status: 200 });
  });

  it('records how it was refused', async () => {
    answers(() => Promise.resolve(fault(429, 'auction_mutation_rate_limited')), there);
    await linked(here);
    await withinRequest(() => link.request(ASKED));
    for (const span of [here.spans[1]!, there.spans[0]!]) {
      expect(span.facts).toMatchObject({ status: 429, code: 'auction_mutation_rate_limited' });
    }
  });

  it('ends its span on a fault, at either end', async () => {
    answers(() => Promise.reject(new Error('a fault that nobody is told')), there);
    await linked(here);
    await withinRequest(() => link.request(ASKED));
    expect(there.spans[0]!.facts).toMatchObject({ status: 500, code: 'internal_error' });
    expect([...here.lines, ...there.lines].filter((line) => line.endsWith('(open)'))).toEqual([
      'request (open)',
    ]);
  });

  it('ends its span when no reply comes', async () => {
    answers(() => new Promise(() => undefined), there);
    await linked(here);
    await expect(withinRequest(() => link.request(ASKED))).rejects.toThrow('no answer in time');
    expect(here.spans[1]!.facts).toMatchObject({ status: 503, code: 'LinkUnavailable' });
    expect(here.spans[1]!.ended).toBe(true);
  });

  it('is understood by a peer of an earlier version', async () => {
    const frames = formerServer();
    await linked(here);
    const answer = await withinRequest(() => link.request(ASKED));
    expect(answer.status).toBe(200);
    expect(JSON.parse(frames[0]!)).toEqual([[1, ASKED, here.spans[1]!.traceparent]]);
  });

  it('is answered by a server without tracing', async () => {
    answers(() => Promise.resolve(reply(200, {})));
    await linked(here);
    expect((await withinRequest(() => link.request(ASKED))).status).toBe(200);
  });
});

describe('an untraced request', () => {
  it.each([
    ['outside any span', () => here],
    ['in a process without tracing', () => undefined],
  ])('%s, has the same two parts as ever', async (_which, tracing) => {
    const frames = formerServer();
    await linked(tracing());
    await link.request(ASKED);
    expect(frames).toEqual([`[[1,${JSON.stringify(ASKED)}]]`]);
  });

  it('begins no span at the server', async () => {
    answers(() => Promise.resolve(reply(200, {})), there);
    await linked(here);
    await link.request(ASKED);
    expect(there.spans).toEqual([]);
  });
});
