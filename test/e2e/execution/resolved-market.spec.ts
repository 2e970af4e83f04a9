import { beforeAll, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { sharedTradingCluster } from '#libs/testing/cluster/shared-cluster.js';
import { namesOf, OrdersFloor, type DemoTrader } from './orders-floor.js';

let floor: OrdersFloor;
let buyer: DemoTrader;
let seller: DemoTrader;

beforeAll(async () => {
  floor = new OrdersFloor(await sharedTradingCluster());
  buyer = floor.trader('trader-1');
  seller = floor.trader('trader-2');
}, 120_000);

it.each(['venue_b', 'venue_e'])(
  'what %s pays for a resolved market is closed with its gain',
  async (exchange_id) => {
    const record = await floor.market(exchange_id, { tick_size: '0.01' });
    const { market_id } = record;
    const limit = { kind: 'limit', quantity: 20 };
    await seller.place({ ...namesOf(exchange_id, record, 1), ...limit, side: 'buy', price: 0.6 }, 'open');
    await buyer.place({ ...namesOf(exchange_id, record, 0), ...limit, side: 'buy', price: 0.4 }, 'filled');
    await floor.admin('POST', `/markets/${exchange_id}/${market_id}/resolve`, { payouts: ['1', '0'] });
    for (const [trader, isRight] of [
      [buyer, true],
      [seller, false],
    ] as const) {
      await eventually(async () => {
        const { body } = await trader.send('GET', `/positions/exposure?market_id=${market_id}`);
        expect(body).toMatchObject({ positions: [], resolved: [], closed: [{ market_id }] });
        const [closed] = body.closed as readonly { readonly realized_pnl: string }[];
        expect(Number(closed?.realized_pnl) > 0).toBe(isRight);
      }, 25_000);
    }
  },
  60_000,
);
