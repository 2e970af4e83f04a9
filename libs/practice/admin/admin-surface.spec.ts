import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { openPracticeB, signedHeaders, type BClient, type PracticeB } from '#libs/testing/practice-b.js';

interface ShownMarket {
  readonly market: { readonly status: string };
  readonly books: readonly object[];
  readonly orders: readonly object[];
  readonly trades: readonly object[];
}

describe('the admin surface of the practice venues', () => {
  let practice: PracticeB;
  beforeAll(async () => {
    practice = await openPracticeB();
  });
  afterAll(() => practice.close());

  function place(client: BClient, ticker: string, side: 'bid' | 'ask', more: object = {}) {
    return client.orders.createOrderV2({
      ...{ ticker, side, count: '10.00', price: '0.4000', time_in_force: 'good_till_canceled' },
      ...{ self_trade_prevention_type: 'taker_at_cross', ...more },
    });
  }

  async function shown(ticker: string): Promise<ShownMarket> {
    const { status, body } = await practice.call('GET', `/markets/venue_b/${ticker}`);
    expect(status).toBe(200);
    return body as ShownMarket;
  }

  it('creates a market with the requested grid', async () => {
    const { status, body } = await practice.call('POST', '/markets', {
      ...{ exchange_id: 'venue_b', title: 'Hail', shard: 1, closes_in_s: 3_600 },
      bands: [
        { start: '0', end: '0.1', step: '0.001' },
        { start: '0.1', end: '1', step: '0.01' },
      ],
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{
        exchange_id: 'venue_b',
        title: 'Hail',
        status: 'open',
        neg_risk: false,
        shard: 1,
        min_size: '0.01',
      },
      outcomes: [
        { index: 0, outcome: 'Yes' },
        { index: 1, outcome: 'No' },
      ],
      bands: [
        { start: '0', end: '0.1', step: '0.001' },
        { start: '0.1', end: '1', step: '0.01' },
      ],
    });
    const hidden = await practice.call('POST', '/markets', {
      exchange_id: 'venue_b',
      tick_size: '0.05',
      grid: false,
    });
    expect(hidden.body).not.toHaveProperty('tick_size');
    expect(hidden.body).not.toHaveProperty('bands');
  });

  it.each([
    ['an unknown venue', { exchange_id: 'venue_x' }],
    ['an unknown field', { exchange_id: 'venue_b', tick: '0.01' }],
    ['bands with a gap', { exchange_id: 'venue_b', bands: [{ start: '0.1', end: '1', step: '0.01' }] }],
    ['a tick of zero', { exchange_id: 'venue_b', tick_size: '0' }],
  ])('refuses %s', async (_, body) => {
    expect((await practice.call('POST', '/markets', body)).status).toBe(400);
  });

  it.each([
    ['GET', '/markets/venue_b/%zz', 404],
    ['GET', '/markets/venue_b/KXNONE', 404],
    ['GET', '/elsewhere', 404],
    ['DELETE', '/markets/venue_b/KXSNOW-26DEC', 405],
  ])('answers %s %s with %d', async (method, path, status) => {
    expect((await practice.call(method, path)).status).toBe(status);
  });

  it('shows all orders and trades of a market', async () => {
    const [maker, taker] = [await practice.account(), await practice.account()];
    const ticker = await practice.market();
    const { data } = await place(maker, ticker, 'bid', { client_order_id: 'named' });
    await place(taker, ticker, 'ask', { count: '4.00' });
    expect(await shown(ticker)).toMatchObject({
      books: [
        { outcome: 'Yes', bids: [{ price: '0.4', quantity: '6', orders: 1 }], asks: [] },
        { outcome: 'No', bids: [], asks: [{ price: '0.6', quantity: '6', orders: 1 }] },
      ],
      orders: [
        {
          ...{ exchange_order_id: data.order_id, client_order_id: 'named', outcome: 'Yes', side: 'buy' },
          ...{ price: '0.4', quantity: '10', filled_quantity: '4', status: 'open' },
        },
        { outcome: 'No', side: 'buy', price: '0.6', quantity: '4', filled_quantity: '4', status: 'filled' },
      ],
      trades: [{ price: '0.6', quantity: '4', outcome: 'No' }],
    });
  });

  it('halts, closes and opens a market, and a halt keeps its orders', async () => {
    const client = await practice.account();
    const ticker = await practice.market();
    await place(client, ticker, 'bid');
    const set = (status: string) => practice.call('POST', `/markets/venue_b/${ticker}/status`, { status });
    expect((await set('halted')).body).toMatchObject({ status: 'halted' });
    expect((await place(client, ticker, 'bid')).data).toMatchObject({ code: 'market_not_active' });
    expect((await shown(ticker)).orders).toMatchObject([{ status: 'open' }]);
    await set('open');
    expect((await place(client, ticker, 'bid')).status).toBe(201);
    await set('closed');
    expect((await shown(ticker)).orders).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }]);
    expect((await client.portfolio.getBalance()).data.balance_dollars).toBe('1000.0000');
    expect(
      (await practice.call('POST', `/markets/venue_b/${ticker}/resolve`, { payouts: ['0.5', '0.5'] })).status,
    ).toBe(200);
    expect((await set('open')).status).toBe(409);
  });

  it('a market closes and an order expires at its time', async () => {
    const client = await practice.account();
    const [closing, lasting] = [await practice.market({ closes_in_s: 1 }), await practice.market()];
    const { data } = await place(client, lasting, 'bid', {
      expiration_time: Math.floor(Date.now() / 1_000) + 1,
    });
    await eventually(async () => expect((await shown(closing)).market.status).toBe('closed'));
    await eventually(async () =>
      expect((await shown(lasting)).orders).toMatchObject([{ status: 'expired' }]),
    );
    expect((await client.orders.getOrder(data.order_id)).data.order).toMatchObject({
      ...{ status: 'canceled', cancel_reason: 'expired' },
    });
  });

  it('a credit from outside shows as a deposit', async () => {
    const client = await practice.account('0');
    const faucet = { exchange_id: 'venue_b', account: client.account, amount: '12.5' };
    expect((await practice.call('POST', '/faucet', faucet)).status).toBe(200);
    expect((await client.portfolio.getDeposits()).data.deposits).toMatchObject([{ amount_cents: 1_250 }]);
    await practice.call('POST', '/faucet', { ...faucet, account: client.keys.key_id, amount: '1' });
    expect((await client.portfolio.getBalance()).data).toMatchObject({
      account: client.account,
      balance: 1_350,
    });
    const nobody = await practice.call('POST', '/faucet', { ...faucet, account: 'nobody' });
    expect(nobody.status).toBe(400);
  });

  it('the vault gets keys, and a repeated transfer of the vault pays once', async () => {
    const { body } = await practice.call('POST', '/accounts', { exchange_id: 'venue_b', account: 'vault' });
    const vault = body as BClient['keys'];
    await practice.call('POST', '/faucet', { exchange_id: 'venue_b', account: 'vault', amount: '100' });
    const client = await practice.account('0');
    const at = '/trade-api/v2/portfolio/account_transfers';
    const pay = async (amount: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${practice.open.port}${at}`, {
        method: 'POST',
        headers: signedHeaders(vault, 'POST', at),
        body: JSON.stringify({
          client_transfer_id: 'once',
          to_account: client.account,
          amount_dollars: amount,
        }),
      });
    const [first, again] = [await pay('60'), await pay('60')];
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(await again.json()).toEqual(await first.json());
    expect((await pay('61')).status).toBe(409);
    expect((await client.portfolio.getBalance()).data.balance_dollars).toBe('60.0000');
    const one = `${at}/once`;
    const found = await fetch(`http://127.0.0.1:${practice.open.port}${one}`, {
      headers: signedHeaders(vault, 'GET', one),
    });
    expect(await found.json()).toMatchObject({
      transfer: {
        status: 'complete',
        amount_dollars: '60.0000',
        direction: 'out',
        to_account: client.account,
      },
    });
  });
});
