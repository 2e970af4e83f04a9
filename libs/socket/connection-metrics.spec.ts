import { Registry } from 'prom-client';
import { beforeEach, expect, it } from '@jest/globals';
import { ConnectionMetrics } from './connection-metrics.js';

const NAMES = { open: 'streams', prefix: 'stream', kind: 'type', connections: 'Streams' };

let registry: Registry;
let metrics: ConnectionMetrics<string>;

beforeEach(() => {
  registry = new Registry();
  metrics = new ConnectionMetrics(registry, NAMES);
});

/** The counts of closed streams, by the side that closed and the code. */
async function closes(): Promise<Readonly<Record<string, number>>> {
  const text = await registry.getSingleMetricAsString('stream_closes_total');
  const rows = [...text.matchAll(/^\w+\{code="(\w+)",by="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(
    rows
      .filter(([, , , count]) => count !== '0')
      .map(([, code, by, count]) => [`${by} ${code}`, Number(count)]),
  );
}

it('has a series for each close code of the gateway from the beginning', async () => {
  const text = await registry.getSingleMetricAsString('stream_closes_total');
  for (const code of [1000, 4400, 4401, 4408, 4431, 4503])
    expect(text).toContain(`{code="${code}",by="gateway"} 0`);
});

it('counts close codes of clients separately if the protocol has them, and all others together', async () => {
  for (const code of [1000, 1001, 1005, 1006, 1006]) metrics.closed(code, 'client');
  for (let code = 3000; code < 5000; code += 1) metrics.closed(code, 'client');
  expect(await closes()).toEqual({
    'client 1000': 1,
    'client 1001': 1,
    'client 1005': 1,
    'client 1006': 2,
    'client other': 2_000,
  });
});

it('does not count a client that closes with a code of the gateway as closed by the gateway', async () => {
  metrics.closed(4431, 'client');
  metrics.closed(4503, 'client');
  metrics.closed(4431, 'gateway');
  expect(await closes()).toEqual({ 'client other': 2, 'gateway 4431': 1 });
});
