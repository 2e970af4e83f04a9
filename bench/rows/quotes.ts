import { alternating } from '../alternating.js';
import { SingleRowInserts } from '../baselines/single-row-inserts.js';
import type { Ground } from '../ground/ground.js';
import type { BenchFloor } from '../ground/trading-floor.js';
import { closedLoop } from '../load/closed-loop.js';
import { ProcessorTime } from '../load/processor-time.js';
import { QuoteRing } from '../load/quote-ring.js';
import { overStreams } from '../load/quoting.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const IN_FLIGHT = 64;
const CLIENTS = 16;
const AUCTIONS = { count: 40, audience: 64 };
const MAKERS = 512;
const FEW = { makers: 16, auctions: { count: 2, audience: 8 } };

/** Submits and revisions over WebSocket through the whole cluster, each with its reservation. */
export const quotes: Row = {
  name: 'quotes',
  title: 'Risk-reserved quote mutations over WebSocket, 512 makers, 40 auctions, 64 in flight',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const ring = await quoteRing(floor, settings, 'quotes');
    const inserts = await SingleRowInserts.open(floor.cluster.file.database_url, CLIENTS);
    const processor = new ProcessorTime(floor.cluster);
    const micros: Record<string, number>[] = [];
    const calls: Record<string, string>[] = [];
    const { medians, runs } = await alternating(
      {
        inserts: () => closedLoop(CLIENTS, settings.seconds, inserts.insert),
        mutations: async () => {
          await closedLoop(IN_FLIGHT, settings.seconds / 4, () => ring.mutate());
          processor.begin();
          const perSecond = await closedLoop(IN_FLIGHT, settings.seconds, () => ring.mutate());
          micros.push(processor.microsPer(perSecond * settings.seconds));
          calls.push(processor.callsPer(perSecond * settings.seconds));
          return perSecond;
        },
      },
      settings,
    );
    await inserts.close();
    const baseline = { name: 'raw single-row INSERT commits of 16 clients', measured: medians.inserts };
    const check = asFastAs('mutations acknowledged', '/s', medians.mutations, baseline, {
      minimum: 0.5,
      goal: 1,
    });
    return {
      checks: [check],
      details: {
        runs,
        processor_us_per_mutation: micros,
        system_calls_per_mutation: calls,
        refusals: Object.fromEntries(ring.refusals),
      },
    };
  },
};

/** Makers on their streams, in auctions of 64 each. */
export async function quoteRing(floor: BenchFloor, { quick }: Settings, name: string): Promise<QuoteRing> {
  const { count, audience } = quick ? FEW.auctions : AUCTIONS;
  const makers = quick ? FEW.makers : MAKERS;
  const streams = await floor.streamsOf(floor.makers.slice(0, makers));
  const auctions = await floor.openAuctions(count, audience, makers);
  return new QuoteRing(auctions, `${name}-${performance.now()}`, overStreams(streams));
}
