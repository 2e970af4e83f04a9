import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { sharedTradingCluster } from '#libs/testing/cluster/shared-cluster.js';
import { namesOf, OrdersFloor, type DemoTrader, type VenueMarketJson } from './orders-floor.js';

type Json = Readonly<Record<string, unknown>>;
const VENUES = ['venue_b', 'venue_e'] as const;
const LIMIT = { kind: 'limit', quantity: 200 };

let floor: OrdersFloor;
let trader: DemoTrader;
let other: DemoTrader;

beforeAll(async () => {
  floor = new OrdersFloor(await sharedTradingCluster());
  trader = floor.trader('trader-3');
  other = floor.trader('trader-4');
}, 120_000);

async function refusal(order: Json): Promise<unknown> {
  const { status, body } = await trader.submit(order);
  return [status, (body.error_details as Json | undefined)?.code];
}

describe.each(VENUES)('a price at %s', (exchange_id) => {
  const bands = [
    { start: '0', end: '0.1', step: '0.001' },
    { start: '0.1', end: '0.9', step: '0.01' },
    { start: '0.9', end: '1', step: '0.001' },
  ];

  it.each([0.055, 0.1, 0.11, 0.89, 0.9, 0.955])('of %d is on the grid of its band', async (price) => {
    const record = await floor.market(exchange_id, { bands });
    const { body } = await trader.send('POST', '/rpc/markets.get', {
      input: { exchangeId: exchange_id, marketId: record.market_id },
    });
    expect(body.result).toMatchObject({ bands });
    expect(body.result).not.toHaveProperty('tick_size');
    const order = { ...namesOf(exchange_id, record, 0), ...LIMIT, side: 'buy', price };
    expect(await trader.place(order, 'open')).toMatchObject({ sent: { price: String(price) } });
  });

  it.each([0.0555, 0.101, 0.155, 0.899])(
    'of %d is not on the grid, and nothing is changed',
    async (price) => {
      const record = await floor.market(exchange_id, { bands });
      const order = { ...namesOf(exchange_id, record, 0), ...LIMIT, side: 'buy', price };
      expect(await refusal(order)).toEqual([400, 'VALIDATION_INVALID_PRICE']);
      const { orders } = await floor.admin('GET', `/markets/${exchange_id}/${record.market_id}`);
      expect(orders).toEqual([]);
    },
  );

  it('of a market without a published grid is for the venue to judge', async () => {
    const record = await floor.market(exchange_id, { grid: false, tick_size: '0.01' });
    const { body } = await trader.send('POST', '/rpc/markets.get', {
      input: { exchangeId: exchange_id, marketId: record.market_id },
    });
    for (const member of ['tick_size', 'bands']) expect(body.result).not.toHaveProperty(member);
    const order = { ...namesOf(exchange_id, record, 0), ...LIMIT, side: 'buy', price: 0.12 };
    expect(await trader.place(order, 'open')).toMatchObject({ sent: { price: '0.12' } });
    expect(await trader.place({ ...order, price: 0.1234 }, 'failed')).toMatchObject({
      ...{ sent: { price: '0.1234' }, failure: { code: 'VENUE_REJECTED', details: { actions: [] } } },
    });
    for (const price of [0, -0.1, 1.01])
      expect(await refusal({ ...order, price })).toEqual([400, 'VALIDATION_INVALID_PRICE']);
  });
});

describe.each(VENUES)('at %s', (exchange_id) => {
  let record: VenueMarketJson;
  const order = (side: string, index: 0 | 1, price: number, more: Json = {}): Json => ({
    ...namesOf(exchange_id, record, index),
    ...{ side, kind: 'limit', price, quantity: 20, ...more },
  });

  beforeAll(async () => {
    record = await floor.market(exchange_id, { tick_size: '0.01' });
  });

  it('a purchase of No without a fill says whether there were any offers', async () => {
    const market = { kind: 'market', time_in_force: 'IOC', max_slippage_cents: 5 };
    expect(await trader.place(order('buy', 1, 0.5, market), 'failed')).toMatchObject({
      failure: { code: 'NO_LIQUIDITY', details: { code: 'MARKET_NO_LIQUIDITY' } },
    });
    // A bid of 0.3 for Yes is an offer of No at 0.7.
    const bid = await other.place(order('buy', 0, 0.3), 'open');
    expect(await trader.place(order('buy', 1, 0.5, market), 'failed')).toMatchObject({
      failure: { code: 'SLIPPAGE_EXCEEDED', details: { actions: ['adjust_price'] } },
    });
    await other.send('POST', `/orders/${bid.order_id}/cancel`, {});
    await other.until(bid.order_id, 'cancelled');
  });

  it('an order never trades with another of its own user', async () => {
    const own = await trader.place(order('buy', 0, 0.6), 'open');
    const taker = await trader.place(order('buy', 1, 0.5), 'failed');
    expect(taker).toMatchObject({ failure: { code: 'SELF_TRADE_PREVENTED' }, filled_quantity: '0' });
    // A cheaper offer of another user is taken first.
    const cheaper = await other.place(order('buy', 0, 0.7, { quantity: 10 }), 'open');
    expect(await trader.place(order('buy', 1, 0.5), 'cancelled')).toMatchObject({
      ...{ filled_quantity: '10', terminal_reason: 'UNFILLED_REMAINDER' },
    });
    await other.until(cheaper.order_id, 'filled');
    expect(await trader.order(own.order_id)).toMatchObject({ status: 'open', filled_quantity: '0' });
    await trader.send('POST', `/orders/${own.order_id}/cancel`, {});
    await trader.until(own.order_id, 'cancelled');
  });
});

it("an amend that meets the user's own order ends as self-trade prevention at venue b, and venue e does not support it", async () => {
  const record = await floor.market('venue_b', { tick_size: '0.01' });
  const buy = (index: 0 | 1, price: number): Json => ({
    ...{ ...namesOf('venue_b', record, index), ...LIMIT, side: 'buy', price },
  });
  const own = await trader.place(buy(1, 0.4), 'open');
  const amended = await trader.place(buy(0, 0.3), 'open');
  const answer = await trader.send('POST', `/orders/${amended.order_id}/amend`, { price: 0.65 });
  expect([answer.status, answer.body.success, answer.body.message]).toEqual([
    ...[200, false],
    expect.stringContaining('it has ended'),
  ]);
  expect(await trader.until(amended.order_id, 'failed')).toMatchObject({
    ...{ filled_quantity: '0', terminal_reason: 'FAILED' },
    failure: { code: 'SELF_TRADE_PREVENTED', classification: 'expected_user_rejection' },
  });
  await eventually(async () =>
    expect(await trader.order(amended.order_id)).toMatchObject({ status: 'failed', price: '0.65' }),
  );
  expect(await trader.order(own.order_id)).toMatchObject({ status: 'open' });
  const none = await floor.market('venue_e', { tick_size: '0.01' });
  const there = await trader.place(
    { ...namesOf('venue_e', none, 0), ...LIMIT, side: 'buy', price: 0.3 },
    'open',
  );
  const refused = await trader.send('POST', `/orders/${there.order_id}/amend`, { price: 0.4 });
  expect([refused.status, (refused.body.error_details as Json).code]).toEqual([
    409,
    'EXCHANGE_AMEND_UNSUPPORTED',
  ]);
});

it('an amend that fills the order at once is reported as done, without delay', async () => {
  const record = await floor.market('venue_b', { tick_size: '0.01' });
  const buy = (index: 0 | 1, price: number): Json => ({
    ...{ ...namesOf('venue_b', record, index), ...LIMIT, quantity: 20, side: 'buy', price },
  });
  await other.place(buy(1, 0.4), 'open');
  const order = await trader.place(buy(0, 0.3), 'open');
  const began = performance.now();
  const answer = await trader.send('POST', `/orders/${order.order_id}/amend`, { price: 0.65 });
  expect(answer.body).toMatchObject({ success: true, price: 0.65 });
  expect(performance.now() - began).toBeLessThan(8_000);
  expect(await trader.until(order.order_id, 'filled')).toMatchObject({
    ...{ price: '0.65', average_fill_price: '0.6' },
  });
});

it("a key over its orders per minute is refused with the time to wait, and the user's other keys are not affected", async () => {
  const { demo, gateway_url: gateway } = floor.cluster.file;
  const user = demo.users.find(({ account_id: id }) => id === trader.userId);
  const login = await fetch(`${gateway}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: user?.email, password: demo.password }),
  });
  const { access_token: token } = (await login.json()) as { readonly access_token: string };
  const made = await fetch(`${floor.url}/account/api-keys`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', authorization: `Bearer ${token}`, 'x-reauth': demo.password },
    },
    body: JSON.stringify({ name: 'slow', preset: 'trading', orders_per_minute: 1 }),
  });
  const key = (await made.json()) as Readonly<Record<'client_id' | 'api_key' | 'api_secret', string>>;
  expect(made.status).toBe(201);
  const slow = floor.withKey(key, trader.userId);
  const record = await floor.market('venue_b', { tick_size: '0.01' });
  const order = {
    ...namesOf('venue_b', record, 0),
    ...LIMIT,
    side: 'buy',
    price: 0.1,
    time_in_force: 'IOC',
  };
  const { body } = await slow.send('GET', '/account/limits');
  const limits = body.limits as readonly Readonly<Record<string, unknown>>[];
  const own = limits.find(({ scope }) => scope === 'KEY');
  expect(own).toMatchObject({ limit: 'orders_per_minute', window_ms: 60_000, remaining: own?.max });
  for (let sent = 0; sent < Number(own?.max); sent += 1) {
    const { status, text } = await slow.submit(order);
    expect(status === 200 ? '' : text).toBe('');
  }
  const refused = await slow.submit(order);
  expect([refused.status, (refused.body.error_details as Json).code]).toEqual([429, 'RATE_LIMITED_KEY']);
  const header = (name: string): number => Number(refused.headers.get(name));
  expect([header('x-ratelimit-limit'), header('x-ratelimit-remaining')]).toEqual([own?.max, 0]);
  const inSeconds = header('x-ratelimit-reset') - Date.now() / 1_000;
  expect([inSeconds > 0, inSeconds <= 61]).toEqual([true, true]);
  expect([header('retry-after') >= 1, header('retry-after') <= 60]).toEqual([true, true]);
  expect((await trader.submit(order)).status).toBe(200);
});
