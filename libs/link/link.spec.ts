import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import {
  LinkClient,
  LinkCongested,
  LinkGarbled,
  LinkUnavailable,
  type LinkClientOptions,
} from './link-client.js';
import { LINK_PATH, reply, type LinkPeer, type LinkReply } from './link-protocol.js';
import { LinkServer, type LinkServerOptions } from './link-server.js';

type TestRequest =
  { readonly op: 'echo'; readonly text: string } | { readonly op: 'fail' } | { readonly op: 'never' };

const TOKEN = 'a-service-token';
const clock = new SystemClock();

let server: Server;
let port: number;
let links: LinkClient<TestRequest>[];

beforeEach(async () => {
  links = [];
  [port = 0] = await pickPorts(1);
  await listenAgain();
});
afterEach(() => {
  for (const link of links) link.close();
  server.close();
  server.closeAllConnections();
});

async function listenAgain(): Promise<void> {
  server = createServer();
  await listen(server, port, '127.0.0.1');
}

function openLink(options: Partial<LinkClientOptions> = {}): LinkClient<TestRequest> {
  const url = `http://127.0.0.1:${port}`;
  const link = new LinkClient<TestRequest>({
    url,
    serviceToken: () => TOKEN,
    peer: 'gateway-0',
    clock,
    ...options,
  });
  links.push(link);
  return link;
}

async function connected(options: Partial<LinkClientOptions> = {}): Promise<LinkClient<TestRequest>> {
  const link = openLink(options);
  await eventually(() => expect(link.connected).toBe(true));
  return link;
}

function echo(request: TestRequest): Promise<LinkReply> {
  if (request.op === 'echo') return Promise.resolve(reply(200, { text: request.text }));
  if (request.op === 'fail') return Promise.reject(new Error('a fault of the server'));
  return new Promise(() => undefined);
}

function startServer(options: Partial<LinkServerOptions<TestRequest>> = {}): LinkServer<TestRequest> {
  const end = new LinkServer<TestRequest>({
    serviceTokens: () => [TOKEN],
    handle: echo,
    onFault: () => undefined,
    clock,
    ...options,
  });
  end.attach(server);
  return end;
}

/** A server whose replies the test writes. */
function strangeServer(onFrame: (socket: WebSocket, frame: string) => void): void {
  const sockets = new WebSocketServer({ server, path: LINK_PATH });
  sockets.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => onFrame(socket, data.toString()));
  });
}

function requestEcho(link: LinkClient<TestRequest>, text: string): Promise<LinkReply> {
  return link.request({ op: 'echo', text });
}

const NEVER_ANSWERED: TestRequest = { op: 'never' };

describe('a frame', () => {
  it('carries all requests of one turn, and each caller gets its own reply', async () => {
    startServer();
    const link = await connected();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => requestEcho(link, `text ${index}`)),
    );
    expect(answers.map(({ body }) => JSON.parse(body) as object)).toEqual(
      answers.map((_, index) => ({ text: `text ${index}` })),
    );
  });

  it('carries requests of one turn only; the next turn begins another frame', async () => {
    const frames: unknown[][] = [];
    strangeServer((socket, frame) => {
      const entries = JSON.parse(frame) as [number, TestRequest][];
      frames.push(entries);
      socket.send(JSON.stringify(entries.map(([id]) => [id, 200, '{}'])));
    });
    const link = await connected();
    await Promise.all(Array.from({ length: 50 }, () => requestEcho(link, 'a')));
    await requestEcho(link, 'b');
    expect(frames.map((entries) => entries.length)).toEqual([50, 1]);
  });

  it('is sent before it grows too long', async () => {
    const lengths: number[] = [];
    strangeServer((socket, frame) => {
      lengths.push(frame.length);
      const entries = JSON.parse(frame) as [number, TestRequest][];
      socket.send(JSON.stringify(entries.map(([id]) => [id, 200, '{}'])));
    });
    const link = await connected();
    const long = 'x'.repeat(10_000);
    await Promise.all(Array.from({ length: 100 }, () => requestEcho(link, long)));
    expect(lengths.length).toBeGreaterThan(3);
    for (const length of lengths) expect(length).toBeLessThan(300_000);
  });

  it('carries replies in the order in which the server finishes', async () => {
    const late = Promise.withResolvers<LinkReply>();
    startServer({
      handle: (request) => (request.op === 'echo' && request.text === 'late' ? late.promise : echo(request)),
    });
    const link = await connected();
    const first = requestEcho(link, 'late');
    expect((await requestEcho(link, 'early')).status).toBe(200);
    late.resolve(reply(201, {}));
    expect((await first).status).toBe(201);
  });

  it('hides the cause of a fault from the caller, and reports it to the server', async () => {
    const faults: unknown[] = [];
    startServer({ onFault: (error, peer) => faults.push([error, peer]) });
    const link = await connected();
    const answer = await link.request({ op: 'fail' });
    expect(answer).toEqual({ status: 500, body: '{"error":"internal_error"}' });
    expect(faults).toEqual([[expect.objectContaining({ message: 'a fault of the server' }), 'gateway-0']]);
  });
});

describe('opening a link', () => {
  const GOOD = { 'x-service-token': TOKEN, 'x-auction-peer': 'gateway-0' };

  it.each([
    ['the right token', GOOD, LINK_PATH, '101'],
    ['a wrong token', { ...GOOD, 'x-service-token': 'a-service-tokeN' }, LINK_PATH, '403'],
    ['no token', { 'x-auction-peer': 'gateway-0' }, LINK_PATH, '403'],
    ['no name', { 'x-service-token': TOKEN }, LINK_PATH, '400'],
    ['another path', GOOD, '/elsewhere', '404'],
  ])('%s', async (_what, headers, path, status) => {
    startServer();
    expect(await upgrade(headers, path)).toBe(status);
  });

  it('is allowed with either token while one replaces the other', async () => {
    let tokens = ['old', 'new'];
    startServer({ serviceTokens: () => tokens });
    expect(await upgrade({ ...GOOD, 'x-service-token': 'old' })).toBe('101');
    expect(await upgrade({ ...GOOD, 'x-service-token': 'new' })).toBe('101');
    tokens = ['new'];
    expect(await upgrade({ ...GOOD, 'x-service-token': 'old' })).toBe('403');
  });

  it('is refused with 503 when the server has too many connections', async () => {
    startServer({ maxConnections: 1 });
    await connected();
    expect(await upgrade(GOOD)).toBe('503');
  });

  it('is refused without a token, and the server cuts the connection of a peer that stays', async () => {
    startServer();
    const stays = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    stays.on('error', () => undefined);
    stays.write(`GET ${LINK_PATH} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`);
    const peers = (): Promise<number> =>
      new Promise((resolve) => {
        server.getConnections((_, count) => {
          resolve(count);
        });
      });
    try {
      await once(stays, 'end');
      await eventually(async () => expect(await peers()).toBe(0));
    } finally {
      stays.destroy();
    }
  });

  it('leaves the server unharmed if the peer vanishes in the middle', async () => {
    startServer();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(handshake({ 'x-auction-peer': 'rude' }, LINK_PATH));
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    const link = await connected();
    expect((await requestEcho(link, 'still here')).status).toBe(200);
  });

  it('sends the headers of the client once for the whole link', async () => {
    const peers: LinkPeer[] = [];
    startServer({
      handle: (request, peer) => {
        peers.push(peer);
        return echo(request);
      },
    });
    await requestEcho(await connected({ headers: { 'x-mood': 'brief' } }), 'a');
    await requestEcho(await connected({ peer: 'settler-0' }), 'a');
    expect(peers.map(({ name, headers }) => [name, headers['x-mood']])).toEqual([
      ['gateway-0', 'brief'],
      ['settler-0', undefined],
    ]);
  });

  function handshake(headers: Record<string, string>, path: string): string {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return [
      `GET ${path} HTTP/1.1`,
      'host: server',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ...lines,
      '\r\n',
    ].join('\r\n');
  }

  /** The status of the server's reply to the upgrade. */
  function upgrade(headers: Record<string, string>, path = LINK_PATH): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', reject);
      socket.on('data', (data) => {
        resolve(/^HTTP\/1\.1 (\d{3})/.exec(data.toString())?.[1] ?? 'none');
        socket.destroy();
      });
      socket.write(handshake(headers, path));
    });
  }
});

describe('a peer that sends nonsense', () => {
  it.each(['no json', '{}', '[1]', '[[1]]', '[["1",{"op":"echo"}]]', '[[1,null]]', '[[1,"echo"]]'])(
    'is disconnected and affects no other peer (%s)',
    async (nonsense) => {
      const faults: unknown[] = [];
      startServer({ onFault: (error) => faults.push(error) });
      const rude = new WebSocket(`ws://127.0.0.1:${port}${LINK_PATH}`, {
        headers: { 'x-service-token': TOKEN, 'x-auction-peer': 'rude' },
      });
      const closed = new Promise<number>((resolve) => rude.on('close', resolve));
      rude.on('open', () => rude.send(nonsense));
      expect(await closed).toBe(1002);
      expect(faults).toHaveLength(1);
      const link = await connected();
      expect((await requestEcho(link, 'a')).status).toBe(200);
    },
  );
});

describe('when the server is unreachable', () => {
  it('fails at once without a connection', async () => {
    server.close();
    const link = openLink();
    await expect(requestEcho(link, 'a')).rejects.toThrow(LinkUnavailable);
  });

  it('rejects only the request that gets no reply in time', async () => {
    startServer();
    const link = await connected({ timeoutMillis: 300 });
    const began = performance.now();
    await expect(link.request(NEVER_ANSWERED)).rejects.toThrow(LinkUnavailable);
    expect(performance.now() - began).toBeGreaterThanOrEqual(299);
    expect((await requestEcho(link, 'a')).status).toBe(200);
  });

  it('rejects sooner if the caller asks for a shorter timeout', async () => {
    startServer();
    const link = await connected();
    const patient = link.request(NEVER_ANSWERED);
    let isOver = false;
    patient.catch(() => {
      isOver = true;
    });
    await expect(link.request(NEVER_ANSWERED, 30)).rejects.toThrow(LinkUnavailable);
    expect(isOver).toBe(false);
  });

  it('ignores a reply that comes too late', async () => {
    const late = Promise.withResolvers<LinkReply>();
    startServer({ handle: (request) => (request.op === 'never' ? late.promise : echo(request)) });
    const link = await connected();
    await expect(link.request(NEVER_ANSWERED, 20)).rejects.toThrow(LinkUnavailable);
    late.resolve(reply(200, {}));
    expect((await requestEcho(link, 'a')).body).toBe('{"text":"a"}');
  });

  it('rejects a request beyond its queue with LinkCongested', async () => {
    startServer();
    const link = await connected({ maxPending: 3, timeoutMillis: 200 });
    const waiting = Array.from({ length: 3 }, () => link.request(NEVER_ANSWERED));
    await expect(link.request(NEVER_ANSWERED)).rejects.toThrow(LinkCongested);
    await Promise.allSettled(waiting);
    expect((await requestEcho(link, 'a')).status).toBe(200);
  });

  it('fails all waiting requests when the server disconnects without replying', async () => {
    const end = startServer({
      handle: () => new Promise((resolve) => setTimeout(() => resolve(reply(200, {})), 60)),
    });
    const link = await connected();
    const waiting = [requestEcho(link, 'a'), requestEcho(link, 'b')].map((replied) =>
      replied.catch((error: unknown) => error),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    end.cut();
    for (const outcome of await Promise.all(waiting)) expect(outcome).toBeInstanceOf(LinkUnavailable);
    expect(link.connected).toBe(false);
  });

  it('delivers pending replies when the server closes gracefully', async () => {
    const end = startServer({ handle: (request) => echo(request) });
    const link = await connected();
    const replied = requestEcho(link, 'a');
    await eventually(async () => {
      expect((await replied).status).toBe(200);
    });
    await end.close();
    await eventually(() => expect(link.connected).toBe(false));
  });

  it('reconnects by itself when the server is back', async () => {
    const end = startServer();
    const link = await connected();
    const first = link.connection;
    end.cut();
    server.close();
    server.closeAllConnections();
    await eventually(() => expect(link.connected).toBe(false));
    expect([typeof first, link.connection]).toEqual(['number', undefined]);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await listenAgain();
    startServer();
    await eventually(() => expect(link.connected).toBe(true));
    expect((await requestEcho(link, 'a')).status).toBe(200);
    expect(link.connection).not.toBe(first);
  });

  it('reconnects less and less often while the server refuses', async () => {
    server.close();
    const attempts: number[] = [];
    const began = performance.now();
    const counting = {
      epochNanos: () => clock.epochNanos(),
      monotonicNanos: () => clock.monotonicNanos(),
      after: (millis: number, action: () => void) => {
        attempts.push(millis);
        return clock.after(millis, action);
      },
    };
    openLink({ clock: counting });
    await eventually(() => expect(attempts.length).toBeGreaterThanOrEqual(6));
    expect(attempts.slice(0, 7)).toEqual(
      [20, 40, 80, 160, 320, 500, 500].slice(0, Math.min(7, attempts.length)),
    );
    expect(performance.now() - began).toBeGreaterThan(600);
  });

  it('rejects all requests once it is closed', async () => {
    startServer();
    const link = await connected();
    const waiting = link.request(NEVER_ANSWERED);
    link.close();
    await expect(waiting).rejects.toThrow(LinkUnavailable);
    await expect(requestEcho(link, 'a')).rejects.toThrow(LinkUnavailable);
  });
});

describe('a server that sends nonsense', () => {
  it.each(['no json', '{}', '[[1]]', '[[1,200]]', '[["1",200,"{}"]]', '[[1,200,{}]]'])(
    'is not trusted, and the link reconnects (%s)',
    async (nonsense) => {
      let sane = false;
      strangeServer((socket, frame) => {
        const entries = JSON.parse(frame) as [number, TestRequest][];
        socket.send(sane ? JSON.stringify(entries.map(([id]) => [id, 200, '{}'])) : nonsense);
      });
      const link = await connected();
      await expect(requestEcho(link, 'a')).rejects.toThrow(LinkGarbled);
      sane = true;
      await eventually(async () => expect((await requestEcho(link, 'b')).status).toBe(200));
    },
  );

  it('does not deliver a reply that no caller asked for', async () => {
    strangeServer((socket, frame) => {
      const [[id] = [0]] = JSON.parse(frame) as [number, TestRequest][];
      socket.send(
        JSON.stringify([
          [id + 1_000, 200, '{}'],
          [id, 200, '{"mine":1}'],
          [id, 200, '{"mine":2}'],
        ]),
      );
    });
    const link = await connected();
    expect((await requestEcho(link, 'a')).body).toBe('{"mine":1}');
  });
});
