import { simulate, type Outcome } from '../simulation.js';
import { CALM_TOPIC } from '../storage/topic.js';
import type { Plan } from './draw.js';

const MOST_RUNS = 150;

export interface Shrunk {
  readonly plan: Plan;
  readonly outcome: Outcome;
  readonly runs: number;
}

/** The least that still breaks the same promise: what does not matter is left out, as far as a bounded number of runs goes. */
export async function shrink(plan: Plan, check: string): Promise<Shrunk> {
  let best = plan;
  let runs = 0;
  const stillFails = async (candidate: Plan): Promise<boolean> => {
    if (runs >= MOST_RUNS) return false;
    runs += 1;
    return (await simulate(candidate)).violation?.check === check;
  };
  for (const simpler of simplerWorlds(plan)) {
    const candidate = { ...best, ...simpler };
    if (await stillFails(candidate)) best = candidate;
  }
  for (let size = Math.ceil(best.incidents.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < best.incidents.length;) {
      const incidents = best.incidents.toSpliced(from, size);
      if (await stillFails({ ...best, incidents })) best = { ...best, incidents };
      else from += size;
    }
  }
  return { plan: best, outcome: await simulate(best, { keepsTrace: true }), runs };
}

function simplerWorlds(plan: Plan): Partial<Plan>[] {
  return [
    { wire: { slowestMillis: 1, drop: 0, repeat: 0, reorder: 0 } },
    { topic: CALM_TOPIC },
    { database: { slowestMillis: 1, stall: 0, cut: 0 } },
    { incidents: plan.incidents.filter(({ kind }) => kind === 'DEED') },
    { projectors: 1, executors: 1 },
    { gateways: 1 },
    { graces: {} },
  ];
}
