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

/** What has been counted of streams that have ended, by who has closed them and the code. */
async function closes(): Promise<Readonly<Record<string, number>>> {
  const text = await registry.getSingleMetricAsString('stream_closes_total');
  const rows = [...text.matchAll(/^\w+\{code="(\w+)",by="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(
    rows
      .filter(([, , , count]) => count !== '0')
      .map(([, code, by, count]) => [`${by} ${code}`, Number(count)]),
  );
}

it('has a place for everything that we close with from the beginning', async () => {
  const text = await registry.getSingleMetricAsString('stream_closes_total');
  for (const code of [1000, 4400, 4401, 4408, 4431, 4503])
    expect(text).toContain(`{code="${code}",by="gateway"} 0`);
});

it('counts what a client closed with by name where the protocol has one, and everything else as one', async () => {
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

it('does not take a client at its word that we have closed it', async () => {
  metrics.closed(4431, 'client');
  metrics.closed(4503, 'client');
  metrics.closed(4431, 'gateway');
  expect(await closes()).toEqual({ 'client other': 2, 'gateway 4431': 1 });
});
