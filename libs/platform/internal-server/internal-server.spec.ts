import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addressOf, internalHost } from './internal-host.js';
import { eventually } from '#libs/testing/eventually.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { nextTurn } from '../time/clock.js';
import { PolledReadiness, type Health } from './polled-readiness.js';
import {
  createInternalServer,
  internalHandler,
  startInternalServer,
  type InternalServer,
} from './internal-server.js';
import { createMetrics } from '../process/metrics.js';

let server: InternalServer;
let ready: () => Health | Promise<Health>;

beforeEach(async () => {
  ready = () => ({ ok: true, status: 'ready' });
  const healthz = (): Health => ({ ok: true, status: 'healthy' });
  const registry = createMetrics({ process: 'owner-0' });
  server = await startInternalServer({ registry, healthz, readyz: () => ready() }, 0);
});

afterEach(() => server.close());

async function get(path: string): Promise<[number, string]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, await response.text()];
}

describe('the internal listener', () => {
  it('reports that the process is alive', async () => {
    expect(await get('/healthz')).toEqual([200, '{"status":"healthy"}']);
  });

  it.each(['::0', '0x0', '0.0', '::ffff:0.0.0.0', '0.0.0.0', '::'])(
    'does not listen on all interfaces, in any spelling: %s',
    async (host) => {
      const routes = { registry: createMetrics({ process: 'x' }), healthz: ready, readyz: ready };
      await expect(startInternalServer(routes, 0, host)).rejects.toThrow('all interfaces at once');
    },
  );

  it('reports readiness, or 503 with the reason', async () => {
    expect(await get('/readyz')).toEqual([200, '{"status":"ready"}']);
    ready = () => ({ ok: false, status: 'draining' });
    expect(await get('/readyz')).toEqual([503, '{"status":"draining"}']);
  });

  it('sends the length of its replies', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
      const { byteLength } = await response.arrayBuffer();
      expect([path, response.headers.get('content-length')]).toEqual([path, String(byteLength)]);
    }
  });

  it('reports not ready if the check throws', async () => {
    ready = () => Promise.reject(new Error('x'));
    expect(await get('/readyz')).toEqual([503, '{"status":"check_failed"}']);
  });

  it('reports not ready if the check hangs; metrics are served meanwhile', async () => {
    const readyMetric = async (): Promise<string | undefined> =>
      /^sotto_ready\S* (\d)$/m.exec((await get('/metrics'))[1])?.[1];
    await get('/readyz');
    expect(await readyMetric()).toBe('1');
    ready = () => new Promise(() => undefined);
    const pending = get('/readyz');
    const began = performance.now();
    expect(await readyMetric()).toBe('1');
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(await pending).toEqual([503, '{"status":"check_timed_out"}']);
    expect(await readyMetric()).toBe('0');
  });

  it('polls readiness by itself', async () => {
    const readiness = new PolledReadiness(() => ready());
    const clock = new MovableClock();
    const stop = readiness.follow(clock);
    await eventually(() => expect(readiness.isReady).toBe(true));
    ready = () => ({ ok: false, status: 'draining' });
    clock.leap(5_000);
    await eventually(() => expect(readiness.isReady).toBe(false));
    stop();
    clock.forgetTimers();
  });

  it('ignores the result of a slow check after that of a later one', async () => {
    let answer: (health: Health) => void = () => undefined;
    const readiness = new PolledReadiness(() => ready());
    ready = () => new Promise((resolve) => (answer = resolve));
    const slow = readiness.ask();
    await nextTurn();
    ready = () => ({ ok: false, status: 'draining' });
    await readiness.ask();
    answer({ ok: true, status: 'ready' });
    expect(await slow).toEqual({ ok: true, status: 'ready' });
    expect(readiness.isReady).toBe(false);
  });

  it('exports metrics with the delay of the event loop', async () => {
    const [status, text] = await get('/metrics');
    expect(status).toBe(200);
    expect(text).toMatch(/event_loop_delay_seconds\{quantile="0.99",process="owner-0"\} \d/);
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('closes silent and half-open connections', async () => {
    const requests = [
      '',
      'GET /healthz HTTP/1.1\r\nHo',
      'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc',
    ];
    const sockets = requests.map((text) => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
      socket.resume().write(text);
      return socket;
    });
    await get('/healthz');
    const closed = sockets.map((socket) => once(socket, 'close'));
    await server.close();
    await Promise.all(closed);
  });

  it('refuses every other path', async () => {
    for (const path of ['/v1/auctions', '/', '/link', '/metrics/', '/debug'])
      expect(await get(path)).toEqual([404, '']);
  });
});

describe('for another machine', () => {
  const TOKENS = ['a'.repeat(32), 'b'.repeat(32)];

  /** The reply on `path` to a caller with the address of another machine. */
  async function fromElsewhere(
    path: string,
    metricsTokens: readonly string[] | undefined,
    authorization?: string,
  ): Promise<[number, string]> {
    const healthz = (): Health => ({ ok: true, status: 'healthy' });
    const handler = internalHandler({ registry: createMetrics({}), metricsTokens, healthz, readyz: healthz });
    const listener = createServer((request, response) => {
      Object.defineProperty(request.socket, 'remoteAddress', { value: '192.0.2.9' });
      handler.handle(request, response);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    const { port } = listener.address() as AddressInfo;
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
    const answer: [number, string] = [response.status, await response.text()];
    handler.stop();
    listener.close();
    listener.closeAllConnections();
    return answer;
  }

  it.each([
    [undefined, undefined],
    [undefined, 'Bearer undefined'],
    [[], 'Bearer '],
    [TOKENS, undefined],
    [TOKENS, `Bearer ${'c'.repeat(32)}`],
    [TOKENS, `Bearer ${TOKENS.join(',')}`],
    [TOKENS, `Basic ${TOKENS[0]}`],
  ])('refuses metrics: %j, %j', async (tokens, authorization) => {
    expect(await fromElsewhere('/metrics', tokens, authorization)).toEqual([403, '']);
  });

  it.each(TOKENS)('serves metrics for any valid token', async (token) => {
    const [status, text] = await fromElsewhere('/metrics', TOKENS, `Bearer ${token}`);
    expect([status, text.includes('process_cpu')]).toEqual([200, true]);
  });

  it('serves its health without a token, as an orchestrator needs it', async () => {
    expect(await fromElsewhere('/healthz', undefined)).toEqual([200, '{"status":"healthy"}']);
  });
});

describe('INTERNAL_HOST', () => {
  it.each(['0.0.0.0', '::', '*', ''])('refuses %j', (host) => {
    expect(internalHost().safeParse(host).success).toBe(false);
  });

  it('may be the name of an interface', () => {
    const interfaces = { eth1: [{ address: '10.1.2.3' }], bare: [] };
    expect(addressOf('eth1', interfaces)).toBe('10.1.2.3');
    expect(addressOf('10.1.2.4', interfaces)).toBe('10.1.2.4');
    expect(addressOf('owner-0.internal', interfaces)).toBe('owner-0.internal');
    expect(() => addressOf('bare', interfaces)).toThrow('the interface bare has no address');
  });
});

describe('a client that connects and sends nothing', () => {
  const connection = (port: number): Promise<'open' | 'closed'> =>
    new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port }).resume();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve('closed');
      });
      setTimeout(() => {
        resolve('open');
        socket.destroy();
      }, 1_500);
    });

  it.each([
    ['counts against the limit of connections', 2, 60_000, ['open', 'open', 'closed']],
    ['is disconnected', 3, 100, ['closed', 'closed', 'closed']],
  ])('%s', async (_, connections, headersTimeout, ends) => {
    const bounds = { connections, headersTimeout, requestTimeout: 60_000, connectionsCheckingInterval: 50 };
    const bounded = createInternalServer(undefined, bounds);
    bounded.listen(0, '127.0.0.1');
    await once(bounded, 'listening');
    const { port } = bounded.address() as AddressInfo;
    expect((await Promise.all(ends.map(() => connection(port)))).sort().reverse()).toEqual(ends);
    bounded.close();
  });
});
