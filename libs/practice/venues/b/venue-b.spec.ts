import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreateOrderV2Request } from 'kalshi-typescript';
import { openPracticeB, type BClient, type PracticeB } from '#libs/testing/practice-b.js';

function order(ticker: string, more: Partial<CreateOrderV2Request> = {}): CreateOrderV2Request {
  return {
    ...{ ticker, side: 'bid', count: '10.00', price: '0.5600', time_in_force: 'good_till_canceled' },
    ...{ self_trade_prevention_type: 'taker_at_cross', ...more },
  };
}

describe('practice venue b, through the published client', () => {
  let practice: PracticeB;
  beforeAll(async () => {
    practice = await openPracticeB();
  });
  afterAll(() => practice.close());

  /** An account that holds this many shares of Yes. */
  async function holder(ticker: string, yes: string): Promise<BClient> {
    const [client, other] = [await practice.account(), await practice.account()];
    await other.orders.createOrderV2(order(ticker, { side: 'ask', count: yes, price: '0.5000' }));
    await client.orders.createOrderV2(order(ticker, { side: 'bid', count: yes, price: '0.5000' }));
    return client;
  }

  it('an order is placed and shown, and the taker trades at the price of the maker', async () => {
    const [maker, taker] = [await practice.account(), await practice.account()];
    const ticker = await practice.market();
    const placed = await maker.orders.createOrderV2(order(ticker, { client_order_id: 'mine-1' }));
    expect(placed.status).toBe(201);
    expect(placed.data).toMatchObject({
      client_order_id: 'mine-1',
      fill_count: '0.00',
      remaining_count: '10.00',
    });
    const taken = await taker.orders.createOrderV2(
      order(ticker, { side: 'ask', price: '0.5000', count: '4.00', time_in_force: 'immediate_or_cancel' }),
    );
    expect(taken.data).toMatchObject({
      fill_count: '4.00',
      average_fill_price: '0.5600',
      average_fee_paid: '0.0175',
    });
    const { data } = await maker.orders.getOrder(placed.data.order_id);
    expect(data.order).toMatchObject({
      ...{ ticker, status: 'resting', book_side: 'bid', outcome_side: 'yes', yes_price_dollars: '0.5600' },
      ...{ fill_count_fp: '4.00', remaining_count_fp: '6.00', initial_count_fp: '10.00' },
      ...{ maker_fill_cost_dollars: '2.2400', maker_fees_dollars: '0.0200', client_order_id: 'mine-1' },
    });
    const fills = await taker.portfolio.getFills(ticker);
    expect(fills.data.fills).toMatchObject([
      {
        order_id: taken.data.order_id,
        is_taker: true,
        count_fp: '4.00',
        yes_price_dollars: '0.5600',
        fee_cost: '0.0700',
      },
    ]);
    const { data: held } = await taker.portfolio.getPositions(undefined, undefined, undefined, ticker);
    expect(held.market_positions).toMatchObject([
      { ticker, position_fp: '-4.00', fees_paid_dollars: '0.0700' },
    ]);
    const { data: money } = await maker.portfolio.getBalance();
    expect(money.balance_breakdown?.[0]).toMatchObject({ exchange_index: 0, total_balance: '997.7400' });
  });

  it('a wrong signature and an unsigned request are refused', async () => {
    const [one, two] = [await practice.account(), await practice.account()];
    const mixed = { ...one.keys, private_key_pem: two.keys.private_key_pem };
    const { clientOfB } = await import('#libs/testing/practice-b.js');
    const forged = clientOfB(practice.open.port, mixed);
    expect((await forged.portfolio.getBalance()).status).toBe(401);
    const unsigned = await fetch(`http://127.0.0.1:${practice.open.port}/trade-api/v2/portfolio/balance`);
    expect(unsigned.status).toBe(401);
    expect(await unsigned.json()).toMatchObject({ code: 'authentication_error' });
  });

  it('pays pairs of Yes and No at once', async () => {
    const ticker = await practice.market();
    const client = await holder(ticker, '10.00');
    const buyer = await practice.account();
    await buyer.orders.createOrderV2(order(ticker, { price: '0.6000' }));
    const sold = await client.orders.createOrderV2(order(ticker, { side: 'ask', price: '0.6000' }));
    expect(sold.data.fill_count).toBe('10.00');
    const { data } = await client.portfolio.getPositions(undefined, undefined, undefined, ticker);
    expect(data.market_positions).toMatchObject([{ position_fp: '0.00', yes_fp: '0.00', no_fp: '0.00' }]);
    const { data: money } = await client.portfolio.getBalance();
    // 1000 - 5.00 - 0.18 + 6.00 - 0.17
    expect(money.balance_dollars).toBe('1000.6500');
  });

  it('a pair with a share reserved for a sale is paid once that share is free', async () => {
    const ticker = await practice.market();
    const client = await holder(ticker, '10.00');
    const { data: sale } = await client.orders.createOrderV2(
      order(ticker, { side: 'ask', price: '0.9000', reduce_only: true }),
    );
    const buyer = await practice.account();
    await buyer.orders.createOrderV2(order(ticker, { price: '0.6000' }));
    await client.orders.createOrderV2(order(ticker, { side: 'ask', price: '0.6000' }));
    const position = async () =>
      (await client.portfolio.getPositions(undefined, undefined, undefined, ticker)).data.market_positions;
    expect(await position()).toMatchObject([{ position_fp: '0.00', yes_fp: '10.00', no_fp: '10.00' }]);
    const before = (await client.portfolio.getBalance()).data.balance;
    await client.orders.cancelOrderV2(sale.order_id);
    expect(await position()).toMatchObject([{ position_fp: '0.00', yes_fp: '0.00', no_fp: '0.00' }]);
    expect((await client.portfolio.getBalance()).data.balance).toBe(before + 1_000);
  });

  it('a sale needs shares and no money', async () => {
    const ticker = await practice.market();
    const seller = await holder(ticker, '10.00');
    const { data: resting } = await seller.orders.createOrderV2(
      order(ticker, { side: 'ask', price: '0.7000', reduce_only: true }),
    );
    const { data } = await seller.orders.getOrder(resting.order_id);
    expect(data.order).toMatchObject({ action: 'sell', side: 'yes', book_side: 'ask' });
    const more = await seller.orders.createOrderV2(
      order(ticker, { side: 'ask', price: '0.7000', reduce_only: true }),
    );
    expect(more.status).toBe(400);
    expect(more.data).toMatchObject({ code: 'insufficient_position' });
  });

  it('shares are sold if the account cannot pay for the other outcome', async () => {
    const ticker = await practice.market();
    const [rich, poor] = [await practice.account(), await practice.account('4')];
    await rich.orders.createOrderV2(order(ticker, { side: 'ask', price: '0.3000' }));
    await poor.orders.createOrderV2(order(ticker, { price: '0.3000' }));
    const { data } = await poor.orders.createOrderV2(order(ticker, { side: 'ask', price: '0.2000' }));
    const { data: found } = await poor.orders.getOrder(data.order_id);
    expect(found.order).toMatchObject({ action: 'sell', side: 'yes', yes_price_dollars: '0.2000' });
  });

  it('an amendment reports the total filled quantity', async () => {
    const ticker = await practice.market();
    const [maker, taker] = [await practice.account(), await practice.account()];
    const { data } = await maker.orders.createOrderV2(order(ticker, { side: 'ask', price: '0.6000' }));
    await taker.orders.createOrderV2(order(ticker, { price: '0.6000', count: '3.00' }));
    const amended = await maker.orders.amendOrderV2(data.order_id, {
      ...{ ticker, side: 'ask', price: '0.6500', count: '10.00' },
    });
    expect(amended.data).toMatchObject({
      ...{ fill_count: '3.00', remaining_count: '7.00', average_fill_price: '0.6000' },
    });
  });

  it('an amended price moves the order to the end of the queue', async () => {
    const [first, second, taker] = [
      await practice.account(),
      await practice.account(),
      await practice.account(),
    ];
    const ticker = await practice.market();
    const one = await first.orders.createOrderV2(order(ticker));
    await second.orders.createOrderV2(order(ticker));
    const amended = await first.orders.amendOrderV2(one.data.order_id, {
      ...{ ticker, side: 'bid', price: '0.5500', count: '10.00' },
    });
    expect(amended.status).toBe(200);
    expect(amended.data).toMatchObject({ order_id: one.data.order_id, remaining_count: '10.00' });
    await first.orders.amendOrderV2(one.data.order_id, {
      ticker,
      side: 'bid',
      price: '0.5600',
      count: '10.00',
    });
    await taker.orders.createOrderV2(order(ticker, { side: 'ask', count: '10.00' }));
    expect((await first.orders.getOrder(one.data.order_id)).data.order.fill_count_fp).toBe('0.00');
  });

  it('cancels one order, several and all', async () => {
    const client = await practice.account();
    const ticker = await practice.market();
    const place = async (): Promise<string> =>
      (await client.orders.createOrderV2(order(ticker))).data.order_id;
    const [one, two, three] = [await place(), await place(), await place()];
    const cancelled = await client.orders.cancelOrderV2(one);
    expect(cancelled.data).toMatchObject({ order_id: one, reduced_by: '10.00' });
    expect((await client.orders.cancelOrderV2(one)).status).toBe(404);
    const some = await client.orders.batchCancelOrdersV2({
      orders: [{ order_id: two }, { order_id: 'no-such' }],
    });
    expect(some.data.orders).toMatchObject([
      { order_id: two, reduced_by: '10.00' },
      { error: { code: 'not_found' } },
    ]);
    await client.orders.cancelAllOrders();
    expect((await client.orders.getOrder(three)).data.order.status).toBe('canceled');
    expect((await client.portfolio.getBalance()).data.balance).toBe(100_000);
  });

  it.each<[string, number, Partial<CreateOrderV2Request>]>([
    ['invalid_price', 400, { price: '0.5650' }],
    ['invalid_count', 400, { count: '0' }],
    ['insufficient_balance', 400, { count: '5000.00' }],
    ['market_not_found', 404, { ticker: 'KXNONE' }],
    ['fill_or_kill_insufficient_resting_volume', 409, { time_in_force: 'fill_or_kill' }],
    ['invalid_parameters', 400, { self_trade_prevention_type: 'maker' }],
    ['invalid_parameters', 400, { exchange_index: 1 }],
  ])('refuses with %s (%d)', async (code, status, more) => {
    const client = await practice.account();
    const ticker = await practice.market();
    const reply = await client.orders.createOrderV2(order(ticker, more));
    expect(reply.status).toBe(status);
    expect(reply.data).toMatchObject({ code });
  });

  it('a client order id is accepted once', async () => {
    const client = await practice.account();
    const ticker = await practice.market();
    await client.orders.createOrderV2(order(ticker, { client_order_id: 'twice' }));
    const again = await client.orders.createOrderV2(order(ticker, { client_order_id: 'twice' }));
    expect(again.status).toBe(409);
    expect(again.data).toMatchObject({ code: 'order_already_exists' });
  });

  it('money is kept in two shards and moves between them', async () => {
    const client = await practice.account('100');
    const ticker = await practice.market({ shard: 1 });
    expect((await client.orders.createOrderV2(order(ticker))).data).toMatchObject({
      code: 'insufficient_balance',
    });
    const { data } = await client.portfolio.intraExchangeInstanceTransfer({
      ...{ source: 'event_contract', destination: 'event_contract', amount: 600_000 },
      ...{ source_exchange_shard: 0, destination_exchange_shard: 1 },
    });
    const { data: found } = await client.portfolio.getIntraExchangeInstanceTransfer(data.transfer_id);
    expect(found.transfer).toMatchObject({
      amount: '60.0000',
      status: 'complete',
      destination_exchange_shard: 1,
    });
    expect((await client.orders.createOrderV2(order(ticker))).status).toBe(201);
    const { data: money } = await client.portfolio.getBalance();
    expect(money.balance_breakdown).toMatchObject([{ balance: '40.0000' }, { total_balance: '60.0000' }]);
  });

  it('a resolved market pays its winners and shows the settlement', async () => {
    const ticker = await practice.market();
    const winner = await holder(ticker, '10.00');
    const { body } = await practice.call('POST', `/markets/venue_b/${ticker}/resolve`, {
      payouts: ['1', '0'],
    });
    expect(body).toMatchObject({ status: 'resolved', market_id: ticker });
    const { data } = await winner.portfolio.getSettlements();
    expect(data.settlements).toMatchObject([
      { ticker, market_result: 'yes', yes_count_fp: '10.00', revenue: 1_000 },
    ]);
    expect((await winner.portfolio.getBalance()).data.balance_dollars).toBe('1004.8200');
    expect((await winner.markets.getMarket(ticker)).data.market).toMatchObject({
      status: 'finalized',
      result: 'yes',
    });
  });

  it('several books are read at once, and trades by a range of seconds', async () => {
    const [one, other] = [await practice.market(), await practice.market()];
    const client = await holder(one, '3.00');
    await client.orders.createOrderV2(order(other, { count: '2.00' }));
    const { data: shown } = await client.markets.getMarketOrderbooks([one, other, 'KXNONE']);
    expect(shown.orderbooks).toEqual([
      { ticker: one, orderbook_fp: { yes_dollars: [], no_dollars: [] } },
      { ticker: other, orderbook_fp: { yes_dollars: [['0.5600', '2.00']], no_dollars: [] } },
    ]);
    const trades = async (from?: number, to?: number): Promise<number> =>
      (await client.markets.getTrades(10, undefined, one, from, to)).data.trades.length;
    const { data } = await client.markets.getTrades(10, undefined, one);
    const at = Math.floor(Date.parse(data.trades[0]?.created_time ?? '') / 1_000);
    expect(await trades(at, at)).toBe(1);
    expect([await trades(at + 1), await trades(undefined, at - 1)]).toEqual([0, 0]);
  });

  it('a market shows when it last changed', async () => {
    const ticker = await practice.market();
    const client = await practice.account();
    const updated = async (): Promise<string> =>
      (await client.markets.getMarket(ticker)).data.market.updated_time;
    const before = await updated();
    await practice.call('POST', `/markets/venue_b/${ticker}/status`, { status: 'halted' });
    expect(Date.parse(await updated())).toBeGreaterThan(Date.parse(before));
  });

  it('seeded markets show ten quoted levels for each outcome', async () => {
    const client = await practice.account();
    const { data } = await client.markets.getMarkets();
    const seeded = data.markets.filter(({ ticker }) => !ticker.startsWith('KXMADE'));
    expect(seeded).toHaveLength(10);
    const { data: book } = await client.markets.getMarketOrderbook(seeded[0]!.ticker);
    expect(book.orderbook_fp.yes_dollars).toHaveLength(10);
    expect(book.orderbook_fp.no_dollars).toHaveLength(10);
    expect(book.orderbook_fp.yes_dollars.at(-1)![0]).toBe(seeded[0]!.yes_bid_dollars);
  });

  it('every acknowledged order is there after a restart', async () => {
    const [maker, taker] = [await practice.account(), await practice.account()];
    const ticker = await practice.market();
    const [one, two] = [
      await maker.orders.createOrderV2(order(ticker)),
      await maker.orders.createOrderV2(order(ticker)),
    ];
    await taker.orders.createOrderV2(order(ticker, { side: 'ask', count: '12.00' }));
    await maker.orders.cancelOrderV2(two.data.order_id);
    const again = await practice.restarted();
    try {
      const { clientOfB } = await import('#libs/testing/practice-b.js');
      const [before, after] = [maker, clientOfB(again.open.port, maker.keys)];
      for (const id of [one.data.order_id, two.data.order_id])
        expect((await after.orders.getOrder(id)).data).toEqual((await before.orders.getOrder(id)).data);
      expect((await after.portfolio.getFills()).data).toEqual((await before.portfolio.getFills()).data);
      expect((await after.portfolio.getBalance()).data.balance_breakdown).toEqual(
        (await before.portfolio.getBalance()).data.balance_breakdown,
      );
      const shown = async (one: PracticeB) => (await one.call('GET', `/markets/venue_b/${ticker}`)).body;
      expect(await shown(again)).toEqual(await shown(practice));
    } finally {
      await again.close();
    }
  });
});
