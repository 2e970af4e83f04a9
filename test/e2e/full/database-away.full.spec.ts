import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { findSecrets } from '#apps/launcher/secrets.js';
import { sharedLogin } from '#apps/launcher/database-logins.js';
import { planProcesses } from '#apps/launcher/processes.js';
import { pickPorts } from '#libs/platform/supervision/ports.js';
import { ApiClient } from '#libs/client/api-client.js';
import { eventually } from '#libs/testing/eventually.js';
import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';
import { plainFloor, type TradingFloor, verdict } from '../trading-floor.js';

/** Connecting and answering have five seconds each; the rest is for the machine. */
const ANSWERED_WITHIN_MS = 15_000;
const UNAVAILABLE = '503 owner_routing_unavailable';
const UNKNOWN_GROUP = '/v1/groups/00000000-0000-4000-8000-000000000000';
const GROUP = { name: 'x', market_maker_ids: [] };
const PROTECTION = { window_ms: 1, max_awards: 1, max_award_notional_atoms: 1, frozen_ms: 1 };

/** All calls that are answered from the database alone. */
const CALLS: readonly (readonly [string, string, object?])[] = [
  ['GET', '/v1/me'],
  ['GET', '/v1/me/protection'],
  ['PUT', '/v1/me/protection', PROTECTION],
  ['POST', '/v1/me/protection/reset'],
  ['GET', '/v1/contracts'],
  ['GET', '/v1/market-makers'],
  ['GET', '/v1/groups'],
  ['POST', '/v1/groups', GROUP],
  ['PUT', UNKNOWN_GROUP, GROUP],
  ['DELETE', UNKNOWN_GROUP],
  ['POST', '/auth/refresh'],
  ['POST', '/auth/logout-all'],
];

jest.setTimeout(60_000);

let floor: TradingFloor;
let proxy: TcpProxy;
let gateway: ChildProcess;
let caller: ApiClient;
/** An account whose session may be lost to an unanswered logout. */
let leaver: ApiClient;

beforeAll(async () => {
  floor = await plainFloor();
  const database = new URL(floor.cluster.file.database_url);
  proxy = await openProxy({ target: { host: database.hostname, port: Number(database.port) } });
  database.port = String(proxy.port);
  const url = await startGateway(database.href);
  const { password } = floor.cluster.file.demo;
  caller = await new ApiClient(url).login('originator-3@demo.sotto', password);
  leaver = await new ApiClient(url).login('originator-3@demo.sotto', password);
}, 60_000);

afterAll(async () => {
  caller.close();
  leaver.close();
  gateway.kill('SIGKILL');
  await proxy.close();
  await floor.end();
});

/** A further gateway of the cluster that reaches the database through the proxy. */
async function startGateway(databaseUrl: string): Promise<string> {
  const { cluster } = floor;
  const secrets = (await findSecrets(cluster.dataDir))?.secrets;
  if (secrets === undefined) throw new Error('the cluster has no secrets');
  const [port = 0, internalPort = 0] = await pickPorts(2);
  const plan = planProcesses({
    databases: sharedLogin(databaseUrl),
    secrets,
    limitsFactor: 1,
    journalPath: undefined,
    listenHost: '127.0.0.1',
    publicPorts: { gateway: [port] },
    services: ['auction'],
    internalUrls: {
      owner: [0, 1, 2].map((shard) => new URL(cluster.process(`owner-${shard}`).health_url).origin),
    },
  }).find(({ kind }) => kind.name === 'gateway');
  gateway = spawn(process.execPath, [path.resolve('dist/apps/gateway/main.js')], {
    env: { ...plan?.env, INSTANCE: 'gateway-away', INTERNAL_PORT: String(internalPort) },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), 30_000);
  return url;
}

async function ask([method, url, body]: (typeof CALLS)[number]): Promise<string> {
  const by = url === '/auth/logout-all' ? leaver : caller;
  const answer = await by.send(method, url, body === undefined ? {} : { body });
  return `${method} ${url}: ${verdict(answer)}`;
}

async function expectAway(): Promise<void> {
  const began = performance.now();
  const answers = await Promise.all(CALLS.map(ask));
  expect(answers).toEqual(CALLS.map(([method, url]) => `${method} ${url}: ${UNAVAILABLE}`));
  expect(performance.now() - began).toBeLessThan(ANSWERED_WITHIN_MS);
}

describe('while the database cannot be reached', () => {
  beforeEach(async () => {
    await eventually(async () => expect(await ask(CALLS[0]!)).toMatch(/200$/), 20_000);
  });

  afterEach(async () => {
    proxy.heal();
    await eventually(async () => expect(await ask(CALLS[0]!)).toMatch(/200$/), 20_000);
  });

  it('all calls that need it say so at once, before and after the token is checked', async () => {
    proxy.refuse();
    proxy.cut();
    await expectAway();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await expectAway();
    expect(verdict(await caller.send('POST', '/auth/login', { body: { email: 'a', password: 'b' } }))).toBe(
      UNAVAILABLE,
    );
  });

  it('they answer in bounded time when it stalls without an error, and work again when it is back', async () => {
    // Opens a spare connection for each call: a call over one that stalls may still succeed.
    await Promise.all(CALLS.map(() => caller.send('POST', '/auth/refresh')));
    proxy.blackhole('to-client');
    await expectAway();
    await expectAway();
  });
});
