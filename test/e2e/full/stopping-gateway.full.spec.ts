import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient, type RawReply } from '#libs/edge/fixtures/raw-client.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { StreamClient } from '#libs/client/stream-client.js';
import { StreamFloor } from '../stream-floor.js';
import { auctionBody, type Trader } from '../trading-floor.js';

jest.setTimeout(60_000);

const SETTINGS = { GATEWAYS: '2', LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:4,originators:2' };
const GATEWAY = 'gateway-1';
const OWNERS = ['owner-0', 'owner-1', 'owner-2'];
const COMMANDS = 8;
/** The owners answer this long after SIGTERM, later than idle connections are closed. */
const ANSWERED_MS = 1_200;
/** The end of a body comes this long after SIGTERM. */
const BODY_MS = 1_500;
/** The longest time for a gateway that is not stuck, whatever clients it has; after seven seconds it ends anyway. */
const GONE_MS = 5_000;
const GOING_AWAY = 4503;
const A_WHILE_MS = 200;
/** More than all buffers on the way can hold. */
const PINGS = 30_000;

let cluster: OwnedCluster;
let floor: StreamFloor;
let originator: Trader;
let body: string;
let token: string;
let keys: string[];
let commands: RawReply[][];
let idle: RawReply[];
let late: RawReply[];
let endless: RawReply[];
let wordless: RawReply[][];
let reading: StreamClient;
let tookMillis: number;

function connect(): RawClient {
  return new RawClient(Number(new URL(floor.gatewayUrl(1)).port));
}

function headOfCreate(key: string): string {
  const lines = [
    `Idempotency-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return request('POST /v1/auctions', ...lines);
}

function request(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: sotto', `Authorization: Bearer ${token}`, ...headers, '', ''].join(
    '\r\n',
  );
}

async function listening(): Promise<StreamClient> {
  const stream = await floor.listen('load-originator-2', {}, { gateway: 1 });
  await stream.subscribe();
  return stream;
}

function signalOwners(signal: NodeJS.Signals): void {
  for (const owner of OWNERS) cluster.kill(owner, signal);
}

function endings(): string[] {
  const launcher = readFileSync(path.join(cluster.dataDir, 'launcher.log'), 'utf8');
  return [...launcher.matchAll(new RegExp(`${GATEWAY} ended \\(.*\\)`, 'g'))].map(([line]) => line);
}

function wordsOf(name: string): string[] {
  const log = readFileSync(path.join(cluster.dataDir, 'logs', `${name}.log`), 'utf8');
  return log
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

beforeAll(async () => {
  cluster = await startCluster({ env: SETTINGS });
  floor = new StreamFloor(cluster);
  originator = await floor.trader('load-originator-1');
  const makers = await floor.traders('load-maker-1', 'load-maker-2');
  body = JSON.stringify(auctionBody(floor.contract('venue_c'), makers));
  token = await floor.token('load-originator-1');
  const clients = await connectAll();
  const pid = cluster.kill(GATEWAY, 'SIGTERM');
  const started = performance.now();
  await sleep(10);
  clients.idle.send(request('GET /v1/auctions?limit=1'));
  await sleep(ANSWERED_MS - 10);
  signalOwners('SIGCONT');
  await sleep(BODY_MS - ANSWERED_MS);
  clients.late.send(body.slice(1));
  await eventually(() => expect(endings()).toHaveLength(1));
  tookMillis = performance.now() - started;
  await cluster.restartOf(GATEWAY, pid);
  commands = await Promise.all(clients.asking.map((client) => client.untilClosed()));
  wordless = await Promise.all(clients.wordless.map((client) => client.untilClosed()));
  idle = await clients.idle.untilClosed();
  late = await clients.late.untilClosed();
  endless = await clients.endless.untilClosed();
}, 120_000);

interface Clients {
  readonly asking: RawClient[];
  readonly idle: RawClient;
  readonly late: RawClient;
  readonly endless: RawClient;
  readonly wordless: RawClient[];
}

/** One of each kind of client that a gateway could wait for. */
async function connectAll(): Promise<Clients> {
  reading = await listening();
  const [deaf, full] = [await listening(), await listening()];
  deaf.stopReading();
  full.stopReading();
  for (let ping = 0; ping < PINGS; ping += 1) full.say({ type: 'ping', cmd_id: `${'p'.repeat(60)}${ping}` });
  const idle = connect().send(request('GET /v1/auctions?limit=1'));
  await idle.until('"auctions"');
  const wordless = [connect(), connect().send('GET /v1/auctions HTTP/1.1\r\nHost:')];
  await sleep(A_WHILE_MS);
  signalOwners('SIGSTOP');
  keys = Array.from({ length: COMMANDS }, () => randomUUID());
  const asking = keys.map((key) => connect().send(headOfCreate(key) + body));
  keys.push(randomUUID());
  const late = connect().send(headOfCreate(keys.at(-1)!) + body.slice(0, 1));
  const endless = connect().send(headOfCreate(randomUUID()) + body.slice(0, 1));
  await sleep(A_WHILE_MS);
  return { asking, idle, late, endless, wordless };
}

afterAll(async () => {
  floor.close();
  await cluster.stop();
});

const told = (replies: readonly RawReply[]): unknown[] =>
  replies.map(({ status, headers }) => [status, headers.connection]);

describe('a gateway that gets SIGTERM while all kinds of clients are connected', () => {
  it('ends in time, in order, with 0', () => {
    expect(tookMillis).toBeLessThan(GONE_MS);
    expect(endings()).toEqual([`${GATEWAY} ended (exit code 0)`]);
    const words = wordsOf(GATEWAY);
    expect(words.filter((word) => word.startsWith('stop'))).toEqual(['stopping', 'stopped']);
    expect(words).not.toContain('connections were closed: the time to drain is over');
  });

  it('answers commands in flight, and marks these answers as the last', () => {
    expect(commands.map(told)).toEqual(keys.slice(0, COMMANDS).map(() => [[201, 'close']]));
  });

  it('answers a late request on a kept connection', () => {
    expect(told(idle)).toEqual([
      [200, 'keep-alive'],
      [200, 'close'],
    ]);
  });

  it('reads a body to its end, and waits for no other', () => {
    expect([told(late), told(endless)]).toEqual([[[201, 'close']], [[408, 'close']]]);
  });

  it('closes silent connections', () => {
    expect(wordless).toEqual([[], []]);
  });

  it('says goodbye to a stream that reads', async () => {
    expect((await reading.untilClosed()).code).toBe(GOING_AWAY);
  });

  it('has done everything that it has acknowledged', async () => {
    const made = [...commands, late].map(([reply]) => reply!.body);
    const again = await Promise.all(
      keys.map((key) => originator.create(JSON.parse(body) as Record<string, unknown>, key)),
    );
    expect(again.map(({ status, text }) => [status, text])).toEqual(made.map((text) => [200, text]));
  });
});

describe('a gateway that gets SIGTERM while no owner answers', () => {
  let reply: RawReply[];
  let key: string;

  beforeAll(async () => {
    key = randomUUID();
    signalOwners('SIGSTOP');
    const client = connect().send(headOfCreate(key) + body);
    await sleep(A_WHILE_MS);
    const pid = cluster.kill(GATEWAY, 'SIGTERM');
    reply = await client.untilClosed();
    signalOwners('SIGCONT');
    await cluster.restartOf(GATEWAY, pid);
  });

  it('answers with an error in the end, and ends in order, with 0', () => {
    expect(told(reply)).toEqual([[503, 'close']]);
    expect(endings()).toHaveLength(2);
    expect(endings().at(-1)).toBe(`${GATEWAY} ended (exit code 0)`);
  });

  it('leaves the outcome to a repeat with the same key', async () => {
    const { status } = await originator.create(JSON.parse(body) as Record<string, unknown>, key);
    expect(status).toBe(200);
  });
});

describe('a whole cluster that gets SIGTERM with a silent client', () => {
  it('ends in order', async () => {
    const silent = connect();
    await sleep(A_WHILE_MS);
    process.kill(cluster.launcherPid, 'SIGTERM');
    expect(await silent.untilClosed()).toEqual([]);
    await eventually(() => {
      for (const name of ['gateway-0', GATEWAY, 'settler', 'projector', ...OWNERS])
        expect([name, wordsOf(name).at(-1)]).toEqual([name, 'stopped']);
    });
  });
});
