import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { ServiceRecords } from '../e2e/books.js';
import { StreamFloor } from '../e2e/stream-floor.js';
import { auctionBody } from '../e2e/trading-floor.js';

jest.setTimeout(120_000);

describeWithKafka('the product', { anyBrokers: true }, (kafka) => {
  let cluster: OwnedCluster;
  let floor: StreamFloor;
  let books: ServiceRecords;

  beforeAll(async () => {
    const env = {
      LIMITS_FACTOR: '50',
      LOAD_ACCOUNTS: 'makers:1,originators:1',
      KAFKA_BROKERS: kafka().addresses.join(','),
      KAFKA_TOPIC_PREFIX: `${kafka().prefix}journal.`,
    };
    cluster = await startCluster({ env });
    floor = new StreamFloor(cluster);
    books = new ServiceRecords(cluster);
  }, 200_000);

  afterAll(async () => {
    floor.close();
    await books.close();
    await cluster.stop();
  });

  it('fills an auction that is visible over HTTP and on a stream, and again after its owners were killed', async () => {
    const [originator, maker] = [await floor.trader('load-originator-1'), await floor.trader('load-maker-1')];
    const client = await floor.listen('load-maker-1');
    const subscription = await client.subscribe();
    const { auction_id: id } = await originator.opens(
      auctionBody(floor.contract('venue_a'), [maker], { duration_ms: 2_000, limit_price_atoms: 600_000 }),
    );
    await maker.quotes(id, 500_000, 10);
    const view = await originator.until(id, 'SETTLED');
    expect(view.award?.awards).toHaveLength(1);
    const told = (await maker.timeline(id)).map(({ kind }) => kind);
    await eventually(() => {
      const { events } = client.memory.of(subscription);
      const heard = events.filter((event) => event.auction_id === id).map(({ kind }) => kind);
      expect(heard).toEqual(told);
    });
    expect(await books.rows('select from journal.records limit 1')).toEqual([]);

    for (const owner of ['owner-0', 'owner-1', 'owner-2'])
      await cluster.restartOf(owner, cluster.kill(owner), 60_000);
    await eventually(async () => {
      const { auction_id: next } = await originator.opens(auctionBody(floor.contract('venue_a'), [maker]));
      expect((await originator.cancel(next)).status).toBe(200);
    });
    await eventually(async () => {
      expect((await maker.timeline(id)).map(({ kind }) => kind)).toEqual(told);
    });
  });
});
