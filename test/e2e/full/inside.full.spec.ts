import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { TradingFloor, type Trader } from '../trading-floor.js';

jest.setTimeout(60_000);

const OLD = 'the-token-that-goes-'.repeat(2);
const NEW = 'the-token-that-comes-'.repeat(2);
const OWNERS = [0, 1, 2];

let folder: string;
let tokens: string;
let cluster: OwnedCluster;
let floor: TradingFloor;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'sotto-inside-'));
  tokens = path.join(folder, 'service-tokens');
  writeFileSync(tokens, OLD);
  cluster = await startCluster({ env: { SERVICE_TOKEN_FILE: tokens, LIMITS_FACTOR: '50' } });
  floor = new TradingFloor(cluster);
}, 90_000);

afterAll(async () => {
  floor.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Heard {
  readonly status: number | undefined;
  readonly body: string;
}

/** What an internal listener answers; with `token` it tries to open a link. */
function ask(name: string, at: string, token?: string): Promise<Heard> {
  const url = new URL(at, cluster.process(name).health_url);
  const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
  const headers = { ...upgrade, 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'X-Auction-Peer': 'thief' };
  return new Promise((resolve, reject) => {
    const options =
      at === '/link'
        ? { headers: { ...headers, ...(token === undefined ? {} : { 'X-Service-Token': token }) } }
        : {};
    const request = get(url, options, (response) => {
      let body = '';
      response
        .on('data', (chunk) => (body += String(chunk)))
        .on('end', () => {
          resolve({ status: response.statusCode, body });
        });
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode, body: 'a link' });
    });
    request.on('error', reject);
  });
}

describe('database connections', () => {
  it('are known by the kind of process, and only by that', async () => {
    const client = new pg.Client({ connectionString: cluster.file.database_url });
    await client.connect();
    const { rows } = await client.query<{ kind: string; role: string }>(
      `select distinct substring(application_name from '^(owner|gateway|projector|settler)') as kind, usename as role
       from pg_stat_activity where application_name ~ '^(owner|gateway|projector|settler)' order by 1`,
    );
    await client.end();
    expect(rows).toEqual(
      ['gateway', 'owner', 'projector', 'settler'].map((kind) => ({ kind, role: `sotto_${kind}` })),
    );
  });

  it('were never refused a right', () => {
    expect(readFileSync(path.join(cluster.dataDir, 'logs/postgres.log'), 'utf8')).not.toContain(
      'permission denied',
    );
  });
});

describe('an internal listener', () => {
  it.each(['owner-0', 'gateway-0', 'projector', 'settler'])(
    'of %s shows a stranger nothing',
    async (name) => {
      for (const at of ['/', '/link', '/v1/auctions', '/debug/pprof', '/healthz/', '/..%2f']) {
        const { status, body } = await ask(name, at);
        expect([at, status === 404 || status === 403, body]).toEqual([at, true, '']);
      }
      expect(await ask(name, '/healthz')).toEqual({ status: 200, body: '{"status":"healthy"}' });
    },
  );

  it.each([undefined, '', 'guess', NEW, `${OLD} `.trim().slice(1)])(
    'of an owner opens no link for %j',
    async (token) => {
      expect(await ask('owner-0', '/link', token)).toEqual({ status: 403, body: '' });
    },
  );

  it('is on loopback', () => {
    for (const { health_url: url } of cluster.file.processes) expect(new URL(url).hostname).toBe('127.0.0.1');
  });
});

describe('the service token', () => {
  it('is exchanged while everything runs, without a failed command', async () => {
    const [originator, maker] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
    const statuses = new Set<number>();
    const stop = new AbortController();
    const nowhere = (shard: number): string => `${shard}0000000-0000-8000-8000-000000000000`;
    const asking = OWNERS.map(async (shard) => {
      while (!stop.signal.aborted) {
        statuses.add(
          (await maker.submit(nowhere(shard), { price_atoms: 500_000, quantity_atoms: 1_000_000 })).status,
        );
        statuses.add((await originator.cancel(nowhere(shard))).status);
        await sleep(5);
      }
    });
    for (const step of [`${OLD}\n${NEW}\n`, `${NEW}\n${OLD}\n`]) {
      writeFileSync(tokens, step);
      await sleep(1_500);
    }
    await sleep(1_500);
    writeFileSync(tokens, `${NEW}\n`);
    await sleep(1_500);
    stop.abort();
    await Promise.all(asking);
    expect([...statuses]).toEqual([404]);
    for (const shard of OWNERS) {
      expect(await ask(`owner-${shard}`, '/link', OLD)).toEqual({ status: 403, body: '' });
      expect(await ask(`owner-${shard}`, '/link', NEW)).toEqual({ status: 101, body: 'a link' });
    }
  });
});
