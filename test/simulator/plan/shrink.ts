import type { Trial } from '../campaign/trials.js';
import type { SimulationOutcome } from '../simulation.js';
import type { Plan } from './draw.js';

const MOST_RUNS = 150;

export interface Shrunk {
  readonly plan: Plan;
  readonly outcome: SimulationOutcome;
  readonly runs: number;
}

/** The smallest plan that still breaks the same promise, within a bounded number of runs. */
export async function shrink({ plan, live, simpler }: Trial, check: string): Promise<Shrunk> {
  let best = plan;
  let runs = 0;
  const stillFails = async (candidate: Plan): Promise<boolean> => {
    if (runs >= MOST_RUNS) return false;
    runs += 1;
    return (await live(candidate)).violation?.check === check;
  };
  for (const change of simpler) {
    const candidate = { ...best, ...change };
    if (await stillFails(candidate)) best = candidate;
  }
  for (let size = Math.ceil(best.incidents.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < best.incidents.length;) {
      const incidents = best.incidents.toSpliced(from, size);
      if (await stillFails({ ...best, incidents })) best = { ...best, incidents };
      else from += size;
    }
  }
  return { plan: best, outcome: await live(best, { keepsTrace: true }), runs };
}
