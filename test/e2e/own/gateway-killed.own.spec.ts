import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OrderStream, type OrderFrame } from '#libs/client/execution-stream.js';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { namesOf, OrdersFloor, type DemoTrader, type VenueMarketJson } from '../execution/orders-floor.js';

const GATEWAY = 'execution-0';
const VENUES = ['venue_b', 'venue_e'] as const;
type Venue = (typeof VENUES)[number];
/** A cell considers a gateway dead after five seconds, and then asks the venue. */
const LEASE_AND_MORE_MS = 25_000;

let cluster: OwnedCluster;
let floor: OrdersFloor;
let trader: DemoTrader;
let other: DemoTrader;
const markets = new Map<Venue, VenueMarketJson>();

beforeAll(async () => {
  cluster = await startCluster({ env: { SERVICES: 'execution', PRACTICE_STILL: '1' } });
  floor = new OrdersFloor(cluster);
  trader = floor.trader('trader-1');
  other = floor.trader('trader-2');
  for (const venue of VENUES) markets.set(venue, await floor.market(venue, { tick_size: '0.01' }));
}, 120_000);

afterAll(() => cluster.stop());

function bid(venue: Venue, index: 0 | 1 = 0, price = 0.4): Readonly<Record<string, unknown>> {
  const market = markets.get(venue);
  if (market === undefined) throw new Error(`no market at ${venue}`);
  return { ...namesOf(venue, market, index), side: 'buy', kind: 'limit', price, quantity: 20 };
}

/** A socket whose orders are cancelled when it ends. */
async function watched(grace_ms: number): Promise<OrderStream> {
  const stream = await OrderStream.open(floor.url, { headers: trader.headers });
  await stream.hello({ cancel_on_disconnect: { grace_ms } });
  return stream;
}

/** Submits over the socket, and waits until the venue has the order. */
async function submitted(stream: OrderStream, venue: Venue): Promise<string> {
  const reply = await eventually(async () => {
    const answer = await stream.ask('order.submit', { order: bid(venue) });
    expect(answer).toMatchObject({ type: 'ack' });
    return answer;
  });
  const id = orderIn(reply);
  await trader.until(id, 'open');
  return id;
}

function orderIn({ result }: OrderFrame): string {
  return typeof result === 'object' && result !== null && 'order_id' in result ? String(result.order_id) : '';
}

async function exchangeIdOf(id: string): Promise<string> {
  return String((await trader.order(id)).exchange_order_id);
}

/** The practice venue's own view of an order. */
async function atVenue(venue: Venue, exchangeOrderId: string): Promise<unknown> {
  const { orders } = await floor.admin('GET', `/markets/${venue}/${markets.get(venue)?.market_id ?? ''}`);
  if (!Array.isArray(orders)) throw new Error('no orders');
  const found = orders.find((order: { exchange_order_id: string }) => {
    return order.exchange_order_id === exchangeOrderId;
  }) as { readonly status: string } | undefined;
  return found?.status.toLowerCase();
}

async function isGoneFrom(venue: Venue, exchangeOrderId: string): Promise<void> {
  await eventually(async () => {
    expect(await atVenue(venue, exchangeOrderId)).toMatch(/^cancell?ed$/);
  }, LEASE_AND_MORE_MS);
}

describe('a gateway that is killed', () => {
  it('leaves no order working that was to end with its socket, and cancels no other order', async () => {
    const stream = await watched(1_000);
    const stays = await trader.place(bid('venue_b', 0, 0.39), 'open');
    const goes = [];
    for (const venue of VENUES) {
      const id = await submitted(stream, venue);
      goes.push({ venue, id, exchangeOrderId: await exchangeIdOf(id) });
    }
    await cluster.restartOf(GATEWAY, cluster.kill(GATEWAY));
    for (const { venue, id, exchangeOrderId } of goes) {
      await isGoneFrom(venue, exchangeOrderId);
      expect(await trader.until(id, 'cancelled')).toMatchObject({ terminal_reason: 'DISCONNECT' });
    }
    expect(await trader.order(stays.order_id)).toMatchObject({ status: 'open' });
  }, 90_000);

  it('loses nothing of a stream that resumes at the next one, and its orders stay', async () => {
    const stream = await watched(30_000);
    await stream.subscribe();
    const id = await submitted(stream, 'venue_b');
    await stream.until(
      ({ type, reason, order }) => type === 'order_update' && reason === 'OPEN' && isOf(order, id),
    );
    await cluster.restartOf(GATEWAY, cluster.kill(GATEWAY));
    await stream.untilClosed();
    // While the stream is down, the order is filled.
    await other.place(bid('venue_b', 1, 0.6), 'filled');
    await trader.until(id, 'filled');
    const next = await OrderStream.open(floor.url, { headers: trader.headers });
    const welcome = await next.resume(stream, { cancel_on_disconnect: { grace_ms: 30_000 } });
    expect(welcome).toMatchObject({ resumed: true, subscriptions: [{ channel: 'orders' }] });
    await next.until(({ type, order_id }) => type === 'fill' && order_id === id);
    await next.until(({ reason, order }) => reason === 'FILLED' && isOf(order, id));
    const seqs = [...stream.frames, ...next.frames].flatMap(({ type, seq }) =>
      seq === undefined || type === 'snapshot' ? [] : [seq],
    );
    expect(seqs).toEqual(seqs.map((_, index) => index + (seqs[0] ?? 0)));
    const resting = await submitted(next, 'venue_e');
    await next.ask('bye');
    expect(await next.untilClosed()).toBe(1000);
    expect(await trader.order(resting)).toMatchObject({ status: 'open' });
  }, 90_000);
});

it('a paused gateway loses its sockets: the order is cancelled at the venue, and the client learns it', async () => {
  const stream = await watched(0);
  await stream.subscribe();
  const id = await submitted(stream, 'venue_b');
  const exchangeOrderId = await exchangeIdOf(id);
  cluster.kill(GATEWAY, 'SIGSTOP');
  try {
    await isGoneFrom('venue_b', exchangeOrderId);
  } finally {
    cluster.kill(GATEWAY, 'SIGCONT');
  }
  expect(await trader.until(id, 'cancelled')).toMatchObject({ terminal_reason: 'DISCONNECT' });
  expect(await stream.untilClosed()).toBe(4503);
  const next = await OrderStream.open(floor.url, { headers: trader.headers });
  await next.resume(stream);
  // As a change, or by a snapshot without the order: after a pause the key's rights must be looked up first.
  await eventually(() => {
    const told = [...stream.frames, ...next.frames].filter(({ order, orders }) => isOf(order, id) || orders);
    expect(told.at(-1)).toEqual(
      expect.objectContaining(told.at(-1)?.type === 'snapshot' ? { more: false } : { reason: 'CANCELLED' }),
    );
    expect(JSON.stringify(told.at(-1)?.orders ?? [])).not.toContain(id);
  });
  await next.close();
}, 90_000);

it("a dead man's switch that is not renewed leaves no order at the venue that it names", async () => {
  const [atB, atE] = [await trader.place(bid('venue_b'), 'open'), await trader.place(bid('venue_e'), 'open')];
  const arm = (timeout_ms: number): ReturnType<DemoTrader['send']> =>
    trader.send('POST', '/orders/cancel-after', { timeout_ms, exchange_id: 'venue_b' });
  expect((await arm(600_000)).body).toEqual({ armed_until: expect.any(String) });
  expect((await arm(0)).body).toEqual({});
  const { body } = await arm(5_000);
  // The timer's process is killed, and its successor goes on with it.
  const cell = `cell-${cellOf(atB.order_id)}`;
  await cluster.restartOf(cell, cluster.kill(cell));
  await isGoneFrom('venue_b', String(atB.exchange_order_id));
  const ended = await trader.until(atB.order_id, 'cancelled');
  expect(ended).toMatchObject({ terminal_reason: 'CANCEL_AFTER' });
  expect(String(ended.cancel_requested_at) >= String(body.armed_until)).toBe(true);
  expect(await trader.order(atE.order_id)).toMatchObject({ status: 'open' });
}, 90_000);

it('a user has ten sockets, and gets those of a killed gateway back', async () => {
  const open = (): Promise<OrderStream> => OrderStream.open(floor.url, { headers: other.headers });
  const left = async (): Promise<unknown> => {
    const { body } = await other.send('GET', '/account/limits');
    const rows = (body as { limits: { limit: string; max: number; remaining: number }[] }).limits;
    return rows.filter(({ limit }) => limit === 'sockets').map(({ max, remaining }) => [max, remaining]);
  };
  const streams = [];
  for (let socket = 0; socket < 10; socket += 1) streams.push(await open());
  await expect(open()).rejects.toMatchObject({ status: 429 });
  expect(await left()).toEqual([[10, 0]]);
  await streams[0]?.close();
  await eventually(async () => {
    expect(await left()).toEqual([[10, 1]]);
  });
  await cluster.restartOf(GATEWAY, cluster.kill(GATEWAY));
  await eventually(async () => {
    expect(await left()).toEqual([[10, 10]]);
  }, 10_000);
}, 60_000);

/** The first digit of an order's id names its cell. */
function cellOf(id: string): number {
  return Number.parseInt(id.slice(0, 1), 16);
}

function isOf(order: unknown, id: string): boolean {
  return typeof order === 'object' && order !== null && 'order_id' in order && order.order_id === id;
}
