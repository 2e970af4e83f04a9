import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { sharedTradingCluster } from '#libs/testing/cluster/shared-cluster.js';
import { namesOf, OrdersFloor, type DemoTrader, type VenueMarketJson } from './orders-floor.js';

type Json = Readonly<Record<string, unknown>>;

let floor: OrdersFloor;
let buyer: DemoTrader;
let seller: DemoTrader;

beforeAll(async () => {
  floor = new OrdersFloor(await sharedTradingCluster());
  buyer = floor.trader('trader-1');
  seller = floor.trader('trader-2');
}, 120_000);

describe.each(['venue_b', 'venue_e'])('an order at %s', (exchange_id) => {
  let record: VenueMarketJson;
  let market: string;
  const order = (side: string, index: 0 | 1, price: number, quantity: number): Json => ({
    ...namesOf(exchange_id, record, index),
    ...{ side, kind: 'limit', price, quantity },
  });

  beforeAll(async () => {
    record = await floor.market(exchange_id, { tick_size: '0.01' });
    market = record.market_id;
  });

  it('rests, is read, listed and cancelled, and a late cancel reports the true state', async () => {
    const resting = await buyer.place(order('buy', 0, 0.4, 20), 'open');
    expect(resting).toMatchObject({
      ...{ origin: 'sotto', exchange_id, market_id: market, side: 'buy', kind: 'limit', price: '0.4' },
      ...{ quantity: '20', filled_quantity: '0', remaining_quantity: '20', time_in_force: 'GTC' },
      ...{ requested: { quantity: '20', price: '0.4' }, sent: { quantity: '20', price: '0.4' }, attempts: 1 },
      exchange_order_id: expect.any(String),
    });
    await eventually(async () => {
      const { body } = await buyer.send('GET', `/orders?exchange_id=${exchange_id}&market_id=${market}`);
      expect(body.orders).toMatchObject([{ order_id: resting.order_id, status: 'open', raw: null }]);
    });
    const cancelled = await buyer.send('POST', `/orders/${resting.order_id}/cancel`, {});
    expect(cancelled.body).toMatchObject({ status: 'cancel_requested', success: true });
    expect(await buyer.until(resting.order_id, 'cancelled')).toMatchObject({ terminal_reason: 'USER' });
    const again = await buyer.send('POST', `/orders/${resting.order_id}/cancel`, {});
    expect(again.body).toMatchObject({ status: 'cancelled', success: false, filled_quantity: '0' });
  });

  it('is filled in part and fully, and exposure and fills follow', async () => {
    const resting = await seller.place(order('buy', 1, 0.55, 40), 'open');
    const taker = await buyer.place(order('buy', 0, 0.45, 20), 'filled');
    expect(taker).toMatchObject({ filled_quantity: '20', average_fill_price: '0.45' });
    await seller.until(resting.order_id, 'partially_filled');
    const rest = await buyer.place(order('buy', 0, 0.46, 25), 'partially_filled');
    expect(rest.filled_quantity).toBe('20');
    await seller.until(resting.order_id, 'filled');
    const { body } = await buyer.send('GET', `/orders/${taker.order_id}/fills`);
    expect(body.fills).toMatchObject([{ order_id: taker.order_id, price: '0.45', quantity: '20' }]);
    await eventually(async () => {
      const { body: exposed } = await buyer.send('GET', `/positions/exposure?market_id=${market}`);
      expect(exposed.positions).toMatchObject([
        { net_size: '40', available_to_sell: '40', reservations_verified: true },
      ]);
      expect(exposed.reservation_source).toBe('cell');
    });
    await buyer.send('POST', `/orders/${rest.order_id}/cancel`, {});
    await buyer.until(rest.order_id, 'cancelled');
  });

  it('is one order however often it is sent', async () => {
    const once = { ...order('buy', 0, 0.11, 50), client_order_id: `one-${market}` };
    const answers = await Promise.all([1, 2, 3].map(() => buyer.submit(once)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.order_id)).size).toBe(1);
    const replays = answers.filter(({ headers }) => headers.get('idempotent-replay') === 'true');
    expect(replays).toHaveLength(2);
    await buyer.until(String(answers[0]?.body.order_id), 'open');
    const { orders } = await floor.admin('GET', `/markets/${exchange_id}/${market}`);
    expect(orders).toMatchObject(expect.any(Array));
    const sent = (orders as readonly { readonly price: string }[]).filter(({ price }) => price === '0.11');
    expect(sent).toHaveLength(1);
  });
});

it('is invisible to another user', async () => {
  const record = await floor.market('venue_b', { tick_size: '0.01' });
  const { order_id: id } = await buyer.place(
    { ...namesOf('venue_b', record, 0), side: 'buy', kind: 'limit', price: 0.5, quantity: 20 },
    'open',
  );
  const unknown = '00000000-0000-8000-8000-000000000000';
  for (const path of ['', '/fills', '/events']) {
    const [theirs, none] = await Promise.all([
      seller.send('GET', `/orders/${id}${path}`),
      seller.send('GET', `/orders/${unknown}${path}`),
    ]);
    expect([theirs.status, theirs.text]).toEqual([404, none.text]);
  }
});
