import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { eventually } from '#libs/testing/eventually.js';
import { openPracticeB, signedHeaders, type BClient, type PracticeB } from '#libs/testing/practice-b.js';

const PATH = '/trade-api/ws/v2';

interface Frame {
  readonly type: string;
  readonly sid?: number;
  readonly seq?: number;
  readonly msg?: Readonly<{ delta_fp?: string }>;
}

describe('the socket of practice venue b', () => {
  let practice: PracticeB;
  const sockets: WebSocket[] = [];
  beforeAll(async () => {
    practice = await openPracticeB();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.terminate();
    await practice.close();
  });

  async function connected(client: BClient, params: object): Promise<Frame[]> {
    const socket = new WebSocket(`ws://127.0.0.1:${practice.open.port}${PATH}`, {
      headers: signedHeaders(client.keys, 'GET', PATH),
    });
    sockets.push(socket);
    const frames: Frame[] = [];
    socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString('utf8')) as Frame));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ id: 1, cmd: 'subscribe', params }));
    await eventually(() => expect(frames).toContainEqual(expect.objectContaining({ type: 'subscribed' })));
    return frames;
  }

  function place(client: BClient, ticker: string, side: 'bid' | 'ask') {
    return client.orders.createOrderV2({
      ...{ ticker, side, count: '10.00', price: '0.4000', time_in_force: 'good_till_canceled' },
      self_trade_prevention_type: 'taker_at_cross',
    });
  }

  it('an account gets its own orders and fills, each fill before the order that includes it', async () => {
    const [client, other] = [await practice.account(), await practice.account()];
    const ticker = await practice.market();
    const frames = await connected(client, { channels: ['fill', 'user_orders'] });
    const { data } = await place(client, ticker, 'bid');
    await place(other, ticker, 'ask');
    await eventually(() => expect(frames).toHaveLength(5));
    const received = frames.slice(2);
    expect(received.map(({ type }) => type)).toEqual(['user_order', 'fill', 'user_order']);
    expect(received[1]!.msg).toMatchObject({
      ...{ order_id: data.order_id, market_ticker: ticker, is_taker: false, count_fp: '10.00' },
      ...{ yes_price_dollars: '0.4000', post_position_fp: '10.00', fee_cost: '0.0500' },
    });
    expect(received[2]!.msg).toMatchObject({
      order_id: data.order_id,
      status: 'executed',
      fill_count_fp: '10.00',
    });
  });

  it('a subscription gets a snapshot of the book and then its changes', async () => {
    const client = await practice.account();
    const ticker = await practice.market();
    await place(client, ticker, 'bid');
    const frames = await connected(client, { channels: ['orderbook_delta'], market_tickers: [ticker] });
    await eventually(() => expect(frames).toHaveLength(2));
    expect(frames[1]).toMatchObject({
      ...{ type: 'orderbook_snapshot', seq: 1 },
      msg: { market_ticker: ticker, yes_dollars_fp: [['0.4000', '10.00']], no_dollars_fp: [] },
    });
    await place(client, ticker, 'bid');
    await client.orders.cancelAllOrders();
    const change = (): number => frames.slice(2).reduce((sum, { msg }) => sum + Number(msg?.delta_fp), 0);
    await eventually(() => expect(change()).toBe(-10));
    expect(frames[2]!.msg).toMatchObject({ side: 'yes', price_dollars: '0.4000', delta_fp: '10.00' });
  });

  it('an account never gets the fills of others, and an unsigned connection is refused', async () => {
    const [client, one, two] = [await practice.account(), await practice.account(), await practice.account()];
    const ticker = await practice.market();
    const frames = await connected(client, { channels: ['fill', 'trade'] });
    await place(one, ticker, 'bid');
    await place(two, ticker, 'ask');
    await eventually(() =>
      expect(frames.at(-1)).toMatchObject({ type: 'trade', msg: { count_fp: '10.00' } }),
    );
    expect(frames.some(({ type }) => type === 'fill')).toBe(false);
    const stranger = new WebSocket(`ws://127.0.0.1:${practice.open.port}${PATH}`);
    const status = await new Promise((resolve) =>
      stranger.once('unexpected-response', (_, response) => resolve(response.statusCode)),
    );
    expect(status).toBe(401);
  });
});
