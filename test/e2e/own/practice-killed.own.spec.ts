import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { clientOfB, type BClient, type BKeys } from '#libs/testing/practice-b.js';

const MAIN = path.resolve('dist/apps/practice/main.js');
const IN_USE = 69;
const ROUNDS = 3;
const AT_ONCE = 8;
let running: ChildProcess | undefined;
afterEach(() => {
  running?.kill('SIGKILL');
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function post<T>(url: string, body: object): Promise<T> {
  return (await (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json()) as T;
}

/** Places orders until the venue stops answering, and notes the acknowledged ones. */
async function load(client: BClient, ticker: string, acknowledged: string[]): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      const { data, status } = await client.orders.createOrderV2({
        ...{ ticker, side: round % 2 === 0 ? 'bid' : 'ask', count: '1.00', price: '0.5000' },
        ...{ time_in_force: 'good_till_canceled', self_trade_prevention_type: 'taker_at_cross' },
      });
      if (status === 201) acknowledged.push(data.order_id);
    } catch {
      return;
    }
  }
}

/** How a second process on the same folder ends. */
async function endOf(folder: string): Promise<unknown> {
  const env = { PATH: process.env.PATH, PRACTICE_DATA_DIR: folder };
  const ended: unknown[] = await once(spawn(process.execPath, [MAIN], { env, stdio: 'ignore' }), 'exit');
  return ended[0];
}

it('a practice venue that is killed has every order that it has acknowledged', async () => {
  const [admin, port] = [await freePort(), await freePort()];
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-killed-'));
  const adminUrl = `http://127.0.0.1:${admin}`;
  const start = async (): Promise<ChildProcess> => {
    const env = {
      ...{ PATH: process.env.PATH, PRACTICE_DATA_DIR: folder, PRACTICE_VENUES: 'b', LOG_LEVEL: 'error' },
      ...{ PRACTICE_ADMIN_PORT: String(admin), PRACTICE_B_PORT: String(port) },
    };
    running = spawn(process.execPath, [MAIN], { env, stdio: 'ignore' });
    await eventually(async () => expect((await fetch(`${adminUrl}/markets`)).status).toBe(200), 20_000);
    return running;
  };
  let practice = await start();
  expect(await endOf(folder)).toBe(IN_USE);
  const keys = await Promise.all(
    Array.from({ length: AT_ONCE }, () => post<BKeys>(`${adminUrl}/accounts`, { exchange_id: 'venue_b' })),
  );
  for (const { account } of keys)
    await post(`${adminUrl}/faucet`, { exchange_id: 'venue_b', account, amount: '10000' });
  const { market_id: ticker } = await post<{ market_id: string }>(`${adminUrl}/markets`, {
    exchange_id: 'venue_b',
  });
  const clients = keys.map((one) => clientOfB(port, one));
  const acknowledged = clients.map((): string[] => []);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const loads = clients.map((client, index) => load(client, ticker, acknowledged[index]!));
    await eventually(() => expect(acknowledged.flat().length).toBeGreaterThan(round * 100));
    practice.kill('SIGKILL');
    await Promise.all(loads);
    practice = await start();
    for (const [index, client] of clients.entries()) {
      const known = new Set<string>();
      for (let cursor: string | undefined; cursor !== '';) {
        const { data } = await client.orders.getOrders(
          ticker,
          undefined,
          undefined,
          undefined,
          undefined,
          1_000,
          cursor,
        );
        for (const { order_id: id } of data.orders) known.add(id);
        cursor = data.cursor;
      }
      expect(acknowledged[index]!.filter((id) => !known.has(id))).toEqual([]);
    }
  }
});
