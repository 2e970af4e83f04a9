import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { rawExchange } from '../raw-exchange.js';
import { StreamFloor } from '../stream-floor.js';

const BAD_MESSAGE = 4400;
const HELLO_WITHIN_MS = 10_000;
const TRIES = 60;
/** How long a refused connection stays open. */
const LINGERS_MS = 20;

let cluster: OwnedCluster;
let floor: StreamFloor;
let handshake: string[];

beforeAll(async () => {
  const env = { LOAD_ACCOUNTS: 'makers:2,originators:1', STREAM_CONNECTIONS_PER_ACCOUNT: '1' };
  cluster = await startCluster({ env });
  floor = new StreamFloor(cluster);
  await floor.listen('load-maker-1');
  const token = await floor.newToken('load-maker-1');
  handshake = [
    'GET /v1/stream HTTP/1.1',
    'host: x',
    `authorization: Bearer ${token}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
});

/** Sends a request and resets the connection: at once, after the answer, or in between. */
function gone(request: readonly string[], attempt: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(floor.gatewayUrl()).port) });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      resolve();
    });
    socket.write(`${request.join('\r\n')}\r\n\r\n`);
    if (attempt % 2 === 0) socket.once('data', () => socket.resetAndDestroy());
    else setTimeout(() => socket.resetAndDestroy(), attempt % LINGERS_MS);
  });
}

describe('a handshake that is refused', () => {
  it('ends no process, however its client disconnects', async () => {
    const { pid } = cluster.process('gateway-0');
    for (let attempt = 0; attempt < TRIES; attempt += 1) await gone(handshake, attempt);
    const answer = await rawExchange(floor.gatewayUrl(), `${handshake.join('\r\n')}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 429 [^]*\{"error":"stream_connection_limit"\}$/);
    expect(() => process.kill(pid, 0)).not.toThrow();
  });

  it('ends no process if a tunnel was requested, by any client', async () => {
    const { pid } = cluster.process('gateway-0');
    const tunnel = ['CONNECT a:1 HTTP/1.1', 'host: x'];
    for (let attempt = 0; attempt < TRIES; attempt += 1) await gone(tunnel, attempt);
    expect(await rawExchange(floor.gatewayUrl(), `${tunnel.join('\r\n')}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 405 /,
    );
    expect(() => process.kill(pid, 0)).not.toThrow();
  });

  it.each(['', ',', 'a, a', 'a b'])(
    'for its subprotocols is malformed like any request: "%s"',
    async (protocols) => {
      const other = await floor.newToken('load-maker-2');
      const lines = handshake.map((line) =>
        line.startsWith('authorization') ? `authorization: Bearer ${other}` : line,
      );
      const bytes = [...lines, `sec-websocket-protocol: ${protocols}`, '', ''].join('\r\n');
      const answer = await rawExchange(floor.gatewayUrl(), bytes);
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\{"error":"malformed_request"\}$/);
      expect(answer).toMatch(/^x-request-id: /m);
    },
  );
});

it('a hello must come within ten seconds', async () => {
  const silent = await floor.open({ token: await floor.token('load-maker-2') });
  const since = performance.now();
  expect((await silent.untilClosed(20_000)).code).toBe(BAD_MESSAGE);
  expect(performance.now() - since).toBeGreaterThanOrEqual(HELLO_WITHIN_MS - 100);
  expect(silent.frames).toEqual([]);
}, 30_000);
