import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { Scraper, valuesOf, type Scrape } from '../e2e/scraper.js';

jest.setTimeout(240_000);

const SILENT_FOR_S = 35;
const SHARDS = [0, 1, 2];

describeWithKafka('a broker that does not answer', {}, (kafka) => {
  let cluster: OwnedCluster;
  let scraper: Scraper;

  beforeAll(async () => {
    cluster = await startCluster({
      env: { KAFKA_BROKERS: kafka().addresses.join(','), KAFKA_TOPIC_PREFIX: kafka().prefix },
    });
    scraper = new Scraper(cluster);
  }, 120_000);
  afterAll(() => cluster.stop());

  async function whileSilent(): Promise<readonly Scrape[]> {
    const seen = await scraper.scrapes('projector', SILENT_FOR_S);
    expect(await scraper.readiness('projector')).toBe('journal_unreadable');
    for (const name of ['gateway-0', 'settler', 'postgres']) await scraper.scrape(name);
    return seen;
  }

  it('delays no metrics: they show their age, and that the projector cannot work', async () => {
    const broker = kafka().own!.brokers[0]!;
    broker.signal('SIGSTOP');
    const seen = await whileSilent().finally(() => {
      broker.signal('SIGCONT');
    });
    expect(new Set(valuesOf(seen.slice(20), 'sotto_ready{}'))).toEqual(new Set([0]));
    for (const shard of SHARDS) {
      expect(valuesOf(seen, `sotto_projection_lag_events{shard="${shard}"}`)).not.toContain(undefined);
      expect(seen.at(-1)?.get(`sotto_projection_age_seconds{shard="${shard}"}`)).toBeGreaterThan(30);
    }
    await eventually(async () => expect(await scraper.readiness('projector')).toBe('ready'), 60_000);
    const after = await scraper.scrape('projector');
    for (const shard of SHARDS) {
      expect(after.get(`sotto_projection_age_seconds{shard="${shard}"}`)).toBeLessThan(10);
    }
  });
});
