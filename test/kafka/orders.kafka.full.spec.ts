import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { ServiceRecords } from '../e2e/books.js';
import {
  namesOf,
  OrdersFloor,
  type DemoTrader,
  type VenueMarketJson,
} from '../e2e/execution/orders-floor.js';
import { ClusterOnKafka } from './cluster-on-kafka.js';

jest.setTimeout(120_000);

const SERVICES = { SERVICES: 'execution', PRACTICE_STILL: '1' };
const CELLS = ['cell-0', 'cell-1'];
const RESTART_WITHIN_MS = 60_000;

describeWithKafka('order execution with its journals in Kafka', { anyBrokers: true }, (kafka) => {
  let place: ClusterOnKafka;
  let floor: OrdersFloor;
  let books: ServiceRecords;
  let record: VenueMarketJson;
  let traders: readonly [DemoTrader, DemoTrader];
  const order = (index: 0 | 1, price: number, quantity: number): Readonly<Record<string, unknown>> => ({
    ...namesOf('venue_b', record, index),
    ...{ side: 'buy', kind: 'limit', price, quantity },
  });

  beforeAll(async () => {
    place = await ClusterOnKafka.start(kafka(), 'orders-on-kafka', SERVICES);
    floor = new OrdersFloor(place.cluster);
    books = new ServiceRecords(place.cluster);
    traders = [floor.trader('trader-1'), floor.trader('trader-2')];
    record = await floor.market('venue_b', { tick_size: '0.01' });
  }, 200_000);

  afterAll(async () => {
    await books.close();
    await place.end();
  });

  const killCells = async (): Promise<void> => {
    for (const cell of CELLS) {
      await place.cluster.restartOf(cell, place.cluster.kill(cell), RESTART_WITHIN_MS);
    }
  };

  it('open orders whose cells were killed are filled and cancelled afterwards, each once', async () => {
    const [buyer, seller] = traders;
    const filled = await buyer.place(order(0, 0.4, 20), 'open');
    const cancelled = await buyer.place(order(0, 0.3, 40), 'open');
    await killCells();
    expect(await buyer.until(filled.order_id, 'open')).toMatchObject({ attempts: 1 });
    await seller.place(order(1, 0.6, 20), 'filled');
    expect(await buyer.until(filled.order_id, 'filled')).toMatchObject({ filled_quantity: '20' });
    await eventually(async () => {
      const { body } = await buyer.send('POST', `/orders/${cancelled.order_id}/cancel`, {});
      expect(body).toMatchObject({ status: expect.stringMatching(/^cancel/) });
    });
    await buyer.until(cancelled.order_id, 'cancelled');
    expect(await books.rows(`select from journal.records where family = 'execution' limit 1`)).toEqual([]);
  });

  it('an order sent while its cell was dead is one order, in lists and timelines too', async () => {
    const [buyer] = traders;
    const body = { ...order(0, 0.2, 40), client_order_id: 'sent-in-the-dark' };
    const restarts = CELLS.map((cell) =>
      place.cluster.restartOf(cell, place.cluster.kill(cell), RESTART_WITHIN_MS),
    );
    const id = await eventually(async () => {
      const { status, text, body: answer } = await buyer.submit(body);
      if (status !== 200) throw new Error(`${status} ${text}`);
      return String(answer.order_id);
    }, RESTART_WITHIN_MS);
    await Promise.all(restarts);
    await buyer.until(id, 'open');
    expect((await buyer.submit(body)).body).toMatchObject({ order_id: id });
    const { orders } = await floor.admin('GET', `/markets/venue_b/${record.market_id}`);
    const sent = (orders as readonly { readonly price: string }[]).filter(({ price }) => price === '0.2');
    expect(sent).toHaveLength(1);
    await eventually(async () => {
      const listed = await buyer.send('GET', `/orders?exchange_id=venue_b&market_id=${record.market_id}`);
      expect(listed.body.orders).toContainEqual(expect.objectContaining({ order_id: id, status: 'open' }));
      const { body: story } = await buyer.send('GET', `/orders/${id}/events`);
      const causes = (story.events as readonly { readonly cause: string }[]).map(({ cause }) => cause);
      expect(causes.filter((cause) => cause !== 'CALL')).toEqual(['ACCEPTED', 'SUBMITTING', 'OPEN']);
    });
  });

  it('the journals are found sound', async () => {
    const verdict = await place.journal('verify', '--family', 'execution');
    expect([verdict.code, verdict.output]).toEqual([0, expect.stringContaining('SOUND')]);
  });
});
