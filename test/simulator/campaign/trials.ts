import { draw, type Plan } from '../plan/draw.js';
import { simulate, type SimulationOutcome, type Watching } from '../simulation.js';
import { CALM_TOPIC } from '../storage/topic.js';
import { liveTwins, twinPlan } from '../twins/compare-twins.js';

/** How to run a plan, and how the plan may be made simpler before incidents are left out. */
export interface Trial {
  readonly plan: Plan;
  readonly live: (plan: Plan, watching?: Watching) => Promise<SimulationOutcome>;
  readonly simpler: readonly Partial<Plan>[];
}

export type TrialName = 'WORLD' | 'TWINS';

const FEW: readonly Partial<Plan>[] = [{ projectors: 1, settlers: 1 }, { gateways: 1 }];

/** The trials of each seed. */
export const TRIALS: Readonly<Record<TrialName, (seed: number) => Trial>> = {
  WORLD: (seed) => {
    const plan = draw(seed);
    const calmer: Partial<Plan>[] = [
      { wire: { slowestMillis: 1, drop: 0, repeat: 0, reorder: 0 } },
      { topic: CALM_TOPIC },
      { database: { slowestMillis: 1, stall: 0, cut: 0 } },
      { incidents: plan.incidents.filter(({ kind }) => kind === 'DEED') },
    ];
    return { plan, live: simulate, simpler: [...calmer, ...FEW, { graces: {} }] };
  },
  // Twins can be compared only in a calm world.
  TWINS: (seed) => ({ plan: twinPlan(seed), live: liveTwins, simpler: FEW }),
};
