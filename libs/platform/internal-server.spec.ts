import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startInternalServer, type Health, type InternalServer } from './internal-server.js';
import { createMetrics } from './metrics.js';

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
  it('says that the process lives', async () => {
    expect(await get('/healthz')).toEqual([200, '{"status":"healthy"}']);
  });

  it('says ready, or 503 and why not', async () => {
    expect(await get('/readyz')).toEqual([200, '{"status":"ready"}']);
    ready = () => ({ ok: false, status: 'draining' });
    expect(await get('/readyz')).toEqual([503, '{"status":"draining"}']);
  });

  it('fails closed when the check itself fails or hangs', async () => {
    ready = () => Promise.reject(new Error('x'));
    expect(await get('/readyz')).toEqual([503, '{"status":"check_failed"}']);
    ready = () => new Promise(() => undefined);
    expect(await get('/readyz')).toEqual([503, '{"status":"check_timed_out"}']);
  });

  it('gives metrics with the delay of the event loop', async () => {
    const [status, text] = await get('/metrics');
    expect(status).toBe(200);
    expect(text).toMatch(/event_loop_delay_seconds\{quantile="0.99",process="owner-0"\} \d/);
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('knows nothing else', async () => {
    expect((await get('/v1/auctions'))[0]).toBe(404);
  });
});
