import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { parseCall } from '#libs/platform/terminal/parse-call.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { type OpsPorts, OpsReport } from './report.js';
import { GatewayClient } from './gateway-client.js';
import { OPS } from '../ops.js';
import { shardDrain } from './shard-commands.js';

const DRAINING = { shard: 1, state: 'DRAINING', active_auctions: 3 };

let gateway: Server;
let url: string;

/** Accepts the drain, and never answers the polls that follow. */
beforeEach(async () => {
  gateway = createServer(({ method, headers }, response) => {
    if (method !== 'POST') return;
    response.writeHead(200, { 'x-request-id': headers['x-request-id'] }).end(JSON.stringify(DRAINING));
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
afterEach(() => {
  gateway.closeAllConnections();
  gateway.close();
});

function ports(): OpsPorts {
  const clock = new SystemClock();
  const stop = new AbortController().signal;
  const credentials = (): Promise<{ token: string; mine: boolean }> =>
    Promise.resolve({ token: 'given', mine: false });
  const report = new OpsReport(
    () => undefined,
    () => undefined,
    false,
    false,
  );
  return { gateway: new GatewayClient({ url, stop, credentials }), report, clock, stop };
}

it('waits for a drain no longer than --timeout, even when the gateway stops answering', async () => {
  const began = performance.now();
  const call = parseCall(OPS, ['shard', 'drain', '1', '--wait', '--timeout', '2']);
  if ('help' in call) throw new Error('these arguments ask for help');
  await expect(shardDrain.run(call, ports())).rejects.toMatchObject({
    message: 'shard 1 is DRAINING with 3 live auctions, after 2 s; the drain continues',
    exitCode: 1,
  });
  // A gateway may take twenty seconds to answer.
  expect(performance.now() - began).toBeLessThan(15_000);
});
