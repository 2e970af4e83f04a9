import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { namesOf, OrdersFloor, type CallAnswer, type DemoTrader } from './orders-floor.js';

type Json = Readonly<Record<string, unknown>>;
const KIND = { exchange_id: 'venue_b', side: 'buy', kind: 'limit', time_in_force: 'IOC', quantity: 100 };
const COUNTED = 20;
const PROBED_WITHIN_MS = 45_000;

let cluster: OwnedCluster;
let floor: OrdersFloor;
let trader: DemoTrader;
let breaker: Json;

beforeAll(async () => {
  cluster = await startCluster({
    env: { SERVICES: 'execution', PRACTICE_STILL: '1', LIMITS_FACTOR: '50' },
  });
  floor = new OrdersFloor(cluster);
  trader = floor.trader('trader-1');
}, 120_000);
afterAll(() => cluster.stop());

async function orderAt(price: number): Promise<Json> {
  return { ...KIND, ...namesOf('venue_b', await floor.market('venue_b', { tick_size: '0.01' }), 0), price };
}

async function breakers(): Promise<readonly Json[]> {
  const { body } = await trader.send('GET', '/exchanges/venue_b/trading-status');
  return body.breakers as readonly Json[];
}

function codeOf({ status, body }: CallAnswer): unknown {
  return [status, (body.error_details as Json | undefined)?.code];
}

it('a venue that fails half of twenty calls gets no more orders of that kind, until one probe succeeds', async () => {
  const orders = await Promise.all(Array.from({ length: COUNTED + 3 }, () => orderAt(0.1)));
  await floor.admin('POST', '/faults', {
    ...{ exchange_id: 'venue_b', fault: 'error', calls: ['submit'], count: COUNTED },
  });
  for (const order of orders.slice(0, COUNTED)) expect((await trader.submit(order)).status).toBe(200);
  await eventually(async () => expect(await breakers()).toMatchObject([{ state: 'open' }]));
  [breaker = {}] = await breakers();
  expect(breaker).toEqual({
    ...{ side: 'buy', kind: 'limit', tif: 'IOC', state: 'open' },
    until: expect.stringMatching(/Z$/),
  });
  await floor.admin('DELETE', '/faults');
  const [probe = {}, next = {}, other = {}] = orders.slice(COUNTED);
  const refused = await trader.submit(probe);
  expect(codeOf(refused)).toEqual([503, 'EXCHANGE_CIRCUIT_OPEN']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  // Other kinds of orders, cancels and reads go on.
  const resting = await trader.place({ ...other, time_in_force: 'GTC' }, 'open');
  await trader.send('POST', `/orders/${resting.order_id}/cancel`, {});
  await trader.until(resting.order_id, 'cancelled');
  await eventually(
    async () => expect(await breakers()).toMatchObject([{ state: 'half_open' }]),
    PROBED_WITHIN_MS,
  );
  const [probed, second] = await Promise.all([trader.submit(probe), trader.submit(next)]);
  expect([probed.status, codeOf(second)]).toEqual([200, [503, 'EXCHANGE_CIRCUIT_OPEN']]);
  await trader.until(String(probed.body.order_id), 'cancelled');
  await eventually(async () => expect(await breakers()).toEqual([]));
  expect((await trader.submit(next)).status).toBe(200);
}, 150_000);

it('an order with an expiry time expires at venue b, and not before', async () => {
  const order = { ...(await orderAt(0.1)), time_in_force: 'GTD', expiration_minutes: 1 };
  const resting = await trader.place(order, 'open');
  const expires = Date.parse(String(resting.expires_at));
  await sleep(expires - Date.now() - 3_000);
  expect(await trader.order(resting.order_id)).toMatchObject({ status: 'open' });
  await eventually(
    async () =>
      expect(await trader.order(resting.order_id)).toMatchObject({
        ...{ status: 'expired', terminal_reason: 'EXPIRED', filled_quantity: '0' },
      }),
    20_000,
  );
  const exposure = await trader.send('GET', '/positions/exposure');
  expect(exposure.body).toMatchObject({ reservation_source: 'cell' });
}, 120_000);
