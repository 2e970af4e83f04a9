import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreateOrderV2Request } from 'kalshi-typescript';
import { eventually } from '#libs/testing/eventually.js';
import { openPracticeB, type BClient, type PracticeB } from '#libs/testing/practice-b.js';

describe('the faults of a practice venue', () => {
  let practice: PracticeB;
  let client: BClient;
  let ticker: string;
  let name = 0;
  beforeAll(async () => {
    practice = await openPracticeB();
    client = await practice.account();
    ticker = await practice.market();
  });
  afterEach(() => practice.call('DELETE', '/faults'));
  afterAll(() => practice.close());

  function order(): CreateOrderV2Request & { readonly client_order_id: string } {
    name += 1;
    return {
      ...{ ticker, side: 'bid', count: '1.00', price: '0.1000', time_in_force: 'good_till_canceled' },
      ...{ self_trade_prevention_type: 'taker_at_cross', client_order_id: `order-${name}` },
    };
  }

  async function arm(fault: string, more: object = { calls: ['submit'] }): Promise<void> {
    const { status } = await practice.call('POST', '/faults', { exchange_id: 'venue_b', fault, ...more });
    expect(status).toBe(200);
  }

  async function isThere(clientId: string): Promise<boolean> {
    const { data } = await client.orders.getOrders(ticker);
    return data.orders.some(({ client_order_id }) => client_order_id === clientId);
  }

  it.each([
    ['drop_request', false],
    ['drop_reply', true],
  ])('%s cuts the connection, and the order is placed: %s', async (fault, isDone) => {
    await arm(fault);
    const asked = order();
    await expect(client.orders.createOrderV2(asked)).rejects.toThrow();
    expect(await isThere(asked.client_order_id)).toBe(isDone);
    expect((await client.orders.createOrderV2(order())).status).toBe(201);
  });

  it('unreadable executes the call and answers with garbage', async () => {
    await arm('unreadable');
    const asked = order();
    const reply = await client.orders.createOrderV2(asked);
    expect(typeof reply.data).toBe('string');
    expect(await isThere(asked.client_order_id)).toBe(true);
  });

  it.each([
    ['reject', 400, 'rejected'],
    ['error', 500, 'internal_server_error'],
    ['rate_limit', 429, 'too_many_requests'],
  ])('%s answers with %d and does nothing', async (fault, status, code) => {
    await arm(fault);
    const asked = order();
    const reply = await client.orders.createOrderV2(asked);
    expect(reply.status).toBe(status);
    expect(reply.data).toMatchObject({ code });
    expect(await isThere(asked.client_order_id)).toBe(false);
  });

  it('delay holds back the answer', async () => {
    await arm('delay', { calls: ['submit'], ms: 150 });
    const before = performance.now();
    expect((await client.orders.createOrderV2(order())).status).toBe(201);
    expect(performance.now() - before).toBeGreaterThan(140);
  });

  it('a fault hits only its kinds of calls, and only as often as requested', async () => {
    await arm('error', { calls: ['cancel', 'amend'], count: 2 });
    const { data } = await client.orders.createOrderV2(order());
    const amendment = { ticker, side: 'bid', price: '0.1100', count: '1.00' } as const;
    expect((await client.orders.amendOrderV2(data.order_id, amendment)).status).toBe(500);
    expect((await client.orders.cancelOrderV2(data.order_id)).status).toBe(500);
    expect((await client.orders.cancelOrderV2(data.order_id)).status).toBe(200);
  });

  it('halt reports no trading and refuses orders until it ends', async () => {
    await arm('halt', { ms: 300 });
    expect((await client.exchange.getExchangeStatus()).data).toMatchObject({
      ...{ exchange_active: true, trading_active: false },
    });
    expect((await client.orders.createOrderV2(order())).data).toMatchObject({ code: 'trading_is_paused' });
    await eventually(async () =>
      expect((await client.exchange.getExchangeStatus()).data.trading_active).toBe(true),
    );
  });

  it('disconnect refuses connections for a while', async () => {
    await arm('disconnect', { ms: 200 });
    await expect(client.exchange.getExchangeStatus()).rejects.toThrow('ECONNREFUSED');
    await eventually(async () => expect((await client.exchange.getExchangeStatus()).status).toBe(200));
  });

  it('duplicate_fill reports one fill twice with the same id', async () => {
    const other = await practice.account();
    await client.orders.createOrderV2({ ...order(), price: '0.9000' });
    await other.orders.createOrderV2({ ...order(), side: 'ask', price: '0.9000' });
    await arm('duplicate_fill', {});
    const { data } = await other.portfolio.getFills();
    expect(data.fills.map(({ fill_id }) => fill_id)).toEqual([
      data.fills[0]!.fill_id,
      data.fills[0]!.fill_id,
    ]);
    expect((await other.portfolio.getFills()).data.fills).toHaveLength(1);
  });

  it('faults can be lifted, and an unknown fault is refused', async () => {
    await arm('error', { count: 5 });
    expect((await practice.call('DELETE', '/faults')).status).toBe(204);
    expect((await client.orders.createOrderV2(order())).status).toBe(201);
    const refused = await practice.call('POST', '/faults', { exchange_id: 'venue_b', fault: 'earthquake' });
    expect(refused.status).toBe(400);
  });
});
