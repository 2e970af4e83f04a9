import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { namesOf, OrdersFloor, type DemoTrader, type OrderJson } from '../execution/orders-floor.js';

interface HistoryJson {
  readonly trades: readonly {
    readonly trade_id: string;
    readonly timestamp: number;
    readonly price: number;
    readonly size: number;
  }[];
}

/** Half of these trades are in the history this soon after the venue's own time, on a busy machine. */
const SOON_MS = 1_000;
const TRADES = 20;

let cluster: OwnedCluster;
let floor: OrdersFloor;
let maker: DemoTrader;
let taker: DemoTrader;

beforeAll(async () => {
  cluster = await startCluster({
    env: { SERVICES: 'execution,data', DATA_SOURCES: 'practice', PRACTICE_STILL: '1', LIMITS_FACTOR: '1000' },
  });
  floor = new OrdersFloor(cluster);
  [maker, taker] = [floor.trader('trader-3'), floor.trader('trader-4')];
}, 120_000);
afterAll(() => cluster.stop());

async function history(provider: string, contract_id: string): Promise<{ text: string; body: HistoryJson }> {
  const query = new URLSearchParams({ provider, contract_id, window_seconds: '3600' });
  const response = await fetch(`${cluster.file.data_url ?? ''}/trades/history?${query.toString()}`, {
    headers: taker.headers,
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return { text, body: JSON.parse(text) as HistoryJson };
}

describe.each(['venue_b', 'venue_e'] as const)('orders that trade at %s', (exchange_id) => {
  it('soon are trades of the public history, without the names of traders', async () => {
    const record = await floor.market(exchange_id);
    const order = (index: 0 | 1): object => ({
      ...namesOf(exchange_id, record, index),
      ...{ side: 'buy', kind: 'limit', price: 0.5, quantity: 20 },
    });
    const orders: OrderJson[] = [];
    const delays: number[] = [];
    for (let trade = 1; trade <= TRADES; trade += 1) {
      orders.push(await maker.place({ ...order(0) }, 'open'));
      await taker.submit({ ...order(1) });
      const found = await eventually(async () => {
        const { body } = await history(exchange_id, record.market_id);
        expect(body.trades).toHaveLength(trade);
        return { at: Date.now(), trade: body.trades[0] };
      });
      delays.push(found.at - (found.trade?.timestamp ?? 0) * 1_000);
    }
    delays.sort((left, right) => left - right);
    const [p50, p99] = [delays[Math.floor(TRADES / 2)], delays.at(-1)];
    process.stderr.write(`${exchange_id}: trade to history p50 ${p50} ms, most ${p99} ms\n`);
    expect(p50).toBeLessThan(SOON_MS);
    const { text } = await history(exchange_id, record.market_id);
    for (const { order_id } of orders) expect(text).not.toContain(order_id);
    for (const { userId } of [maker, taker]) expect(text).not.toContain(userId);
    if (exchange_id === 'venue_b') expect(await shownNow(record.market_id)).toHaveLength(TRADES);
  }, 120_000);
});

/** As the venue itself shows them at this moment. */
async function shownNow(ticker: string): Promise<unknown> {
  const url = `${cluster.file.data_url ?? ''}/trades/venue_b?ticker=${ticker}`;
  const response = await fetch(url, { headers: taker.headers });
  return ((await response.json()) as { readonly trades: unknown }).trades;
}
