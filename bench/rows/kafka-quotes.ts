import { alternating } from '../alternating.js';
import { BenchKafka } from '../ground/bench-kafka.js';
import type { Ground } from '../ground/ground.js';
import { BenchFloor } from '../ground/trading-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { openLoop, type Latencies } from '../load/open-loop.js';
import { asFastAs, noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';
import { quoteRing } from './quotes.js';

const IN_FLIGHT = 64;
/** Share of the peak with journals in PostgreSQL: a rate at which neither cluster queues. */
const SHARE = 0.3;

/** Two equal clusters, with journals in PostgreSQL and in Kafka with one broker, both on this machine. */
export const kafkaQuotes: Row = {
  name: 'kafka-quotes',
  title: 'Quote mutations over WebSocket with journals in Kafka, compared with PostgreSQL',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const kafka = await BenchKafka.start(1);
    try {
      return await measured(ground, kafka, settings);
    } finally {
      await kafka.stop();
    }
  },
};

async function measured(ground: Ground, kafka: BenchKafka, settings: Settings): Promise<RowOutcome> {
  const { seconds } = settings;
  const embedded = await BenchFloor.open(await ground.cluster({}));
  const onKafka = await BenchFloor.open(
    await ground.cluster({ KAFKA_BROKERS: kafka.addresses.join(','), KAFKA_TOPIC_PREFIX: 'bench.quotes.' }),
  );
  const rings = {
    embedded: await quoteRing(embedded, settings, 'embedded'),
    kafka: await quoteRing(onKafka, settings, 'kafka'),
  };
  const mutating = async (ring: keyof typeof rings): Promise<number> => {
    await closedLoop(IN_FLIGHT, seconds / 4, () => rings[ring].mutate());
    return await closedLoop(IN_FLIGHT, seconds, () => rings[ring].mutate());
  };
  const { medians, runs } = await alternating(
    { embedded: () => mutating('embedded'), kafka: () => mutating('kafka') },
    settings,
  );
  const latencies: Record<keyof typeof rings, Latencies[]> = { embedded: [], kafka: [] };
  const rate = SHARE * medians.embedded;
  for (let run = 1; run <= settings.runs; run += 1) {
    for (const name of ['embedded', 'kafka'] as const) {
      latencies[name].push(await openLoop(rate, seconds, () => rings[name].mutate()));
    }
    const p99s = [latencies.embedded.at(-1), latencies.kafka.at(-1)].map((one) => one?.p99.toFixed(1) ?? '');
    settings.say(`run ${run} of ${settings.runs} at ${rate.toFixed(0)}/s: p99 ${p99s.join(' and ')} ms`);
  }
  await Promise.all([embedded, onKafka].map((floor) => floor.close()));
  // Before its brokers stop.
  await onKafka.cluster.stop();
  const p99 = (name: keyof typeof rings): number => median(latencies[name].map((one) => one.p99));
  return {
    checks: [
      asFastAs(
        'mutations acknowledged',
        '/s',
        medians.kafka,
        { name: 'journals in PostgreSQL', measured: medians.embedded },
        { minimum: 0.5, goal: 1 },
      ),
      noSlowerThan(
        'p99',
        'ms',
        p99('kafka'),
        { name: 'journals in PostgreSQL', measured: p99('embedded') },
        { minimum: 3, goal: 1.5 },
      ),
    ],
    details: { runs, rate, latencies },
  };
}
