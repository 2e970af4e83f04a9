import { createServer, type Server } from 'node:http';
import { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Cancel } from '#libs/platform/time/clock.js';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { openProxy, type ProxyDirection, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { LinkClient } from './link-client.js';
import { watchPulse } from './link-pulse.js';
import type { LinkSocket } from './link-socket.js';
import { reply, type LinkReply } from './link-protocol.js';
import { LinkServer } from './link-server.js';

const TOKEN = 'a-service-token';
const SPEEDUP = 40;

/** A clock whose timers run early, so that no test waits for several seconds. */
class QuickClock extends SystemClock {
  override after(millis: number, action: () => void): Cancel {
    return super.after(millis / SPEEDUP, action);
  }
}

let server: Server;
let proxy: TcpProxy;
let link: LinkClient<{ readonly op: 'ping' }>;

beforeEach(async () => {
  server = createServer();
  await listen(server, 0, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  proxy = await openProxy({ target: { host: '127.0.0.1', port } });
  new LinkServer<{ readonly op: 'ping' }>({
    serviceTokens: () => [TOKEN],
    handle: (): Promise<LinkReply> => Promise.resolve(reply(200, {})),
    onFault: () => undefined,
    clock: new QuickClock(),
  }).attach(server);
  const url = `http://127.0.0.1:${proxy.port}`;
  link = new LinkClient({ url, serviceToken: () => TOKEN, peer: 'gateway-0', clock: new QuickClock() });
  await eventually(async () => expect((await ping()).status).toBe(200));
});

afterEach(async () => {
  link.close();
  server.close();
  server.closeAllConnections();
  await proxy.close();
});

function ping(): Promise<LinkReply> {
  return link.request({ op: 'ping' });
}

function connections(): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

describe('a link whose other end vanished silently', () => {
  it.each<ProxyDirection>(['to-server', 'to-client'])(
    'is reopened if no data flows %s any more, and the server drops the dead connection',
    async (direction) => {
      proxy.blackhole(direction);
      proxy.heal();
      await eventually(async () => expect((await ping()).status).toBe(200), 3_000);
      await eventually(async () => expect(await connections()).toBe(1), 3_000);
    },
  );
});

it('an idle link stays open', async () => {
  const sockets: unknown[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise((resolve) => setTimeout(resolve, 800));
  expect((await ping()).status).toBe(200);
  expect(sockets).toEqual([]);
});

/** One end of an idle connection. Answers pings at once. */
class IdleSocket extends EventEmitter implements LinkSocket {
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  pings = 0;
  isTerminated = false;
  other: IdleSocket | undefined;

  ping(): void {
    this.pings += 1;
    if (this.other === undefined) return;
    this.other.emit('ping');
    this.emit('pong');
  }

  terminate(): void {
    this.isTerminated = true;
    this.emit('close');
  }

  send = (): void => undefined;
  close = (): void => undefined;
}

it('only one of two live ends pings; the other starts once it gets no more pings', () => {
  const clock = new MovableClock();
  const [one, other] = [new IdleSocket(), new IdleSocket()];
  [one.other, other.other] = [other, one];
  watchPulse(one, clock);
  clock.leap(1_000);
  watchPulse(other, clock);
  for (let seconds = 0; seconds < 20; seconds += 1) clock.leap(1_000);
  expect([one.pings, other.pings]).toEqual([10, 0]);
  one.terminate();
  other.other = undefined;
  for (let seconds = 0; seconds < 10; seconds += 1) clock.leap(1_000);
  expect(other).toMatchObject({ pings: 3, isTerminated: true });
  clock.forgetTimers();
});
