import { SideProcess } from '../ground/side-process.js';
import type { Ground } from '../ground/ground.js';
import { closedLoop } from '../load/closed-loop.js';
import { HttpPool } from '../load/http-pool.js';
import { openLoop, type Latencies } from '../load/open-loop.js';
import { noSlowerThan, type RowCheck, type RowOutcome, type Row, type Settings } from '../row.js';
import { median } from '../statistics.js';
import { submitting } from './order-acks.js';

const SHARE = 0.25;
const IN_FLIGHT = 64;
const FEW = 8;

/** The latency of a submit at a rate that the cluster carries, counted from its scheduled time. */
export const orderLatency: Row = {
  name: 'order-latency',
  title: 'Submit to acknowledgement, open loop at a quarter of the peak',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.orders();
    const submit = await submitting(floor, settings);
    const server = await SideProcess.start('bare-http-server', [floor.cluster.file.database_url]);
    const bare = new HttpPool(server.url);
    const echo = async (): Promise<void> => {
      const { status } = await bare.send({
        method: 'POST',
        path: '/',
        body: JSON.stringify(floor.resting('M')),
      });
      if (status !== 201) throw new Error(`the bare server answers ${status}`);
    };
    let turn = 0;
    const ours: Latencies[] = [];
    const theirs: Latencies[] = [];
    const rates: number[] = [];
    await closedLoop(settings.quick ? FEW : IN_FLIGHT, settings.seconds / 2, echo);
    for (let run = 1; run <= settings.runs; run += 1) {
      const rate = SHARE * (await closedLoop(settings.quick ? FEW : IN_FLIGHT, settings.seconds, submit));
      await floor.clear();
      theirs.push(await openLoop(rate, settings.seconds, echo));
      ours.push(await openLoop(rate, settings.seconds, () => submit(turn++)));
      await floor.clear();
      rates.push(rate);
      settings.say(
        `run ${run} of ${settings.runs} at ${rate.toFixed(0)}/s: ${lastLatencies(ours)}; bare: ${lastLatencies(theirs)}`,
      );
    }
    bare.close();
    await server.stop();
    return {
      checks: [check('p50', ours, theirs), check('p99', ours, theirs)],
      details: { rates, ours, theirs },
    };
  },
};

function check(which: 'p50' | 'p99', ours: readonly Latencies[], theirs: readonly Latencies[]): RowCheck {
  const of = (all: readonly Latencies[]): number => median(all.map((one) => one[which]));
  const baseline = { name: `${which} of a bare HTTP echo with a commit`, measured: of(theirs) };
  return noSlowerThan(which, 'ms', of(ours), baseline, { minimum: 2, goal: 2 });
}

function lastLatencies(runs: readonly Latencies[]): string {
  const last = runs.at(-1);
  return `p50 ${last?.p50.toFixed(2) ?? ''} ms, p99 ${last?.p99.toFixed(2) ?? ''} ms`;
}
