import type { Outcome, Watching } from '../simulation.js';
import { TRIALS, type TrialName } from './trials.js';

/** Every so many seeds a world is lived twice, with and without competitors. */
const TWINS_EVERY = 4;

export interface Searched extends Outcome {
  /** Which of the seed's trials it came of. */
  readonly trial: TrialName;
}

/** All that one seed stands for, up to what breaks first. */
export async function search(seed: number, watching: Watching = {}): Promise<Searched> {
  const outcome = await lived('WORLD', seed, watching);
  if (outcome.violation !== undefined || seed % TWINS_EVERY !== 0) return outcome;
  const twins = await lived('TWINS', seed, watching);
  const coverage = { ...outcome.coverage, 'twins compared': 1 };
  return { ...(twins.violation === undefined ? outcome : twins), coverage };
}

async function lived(trial: TrialName, seed: number, watching: Watching): Promise<Searched> {
  const { plan, live } = TRIALS[trial](seed);
  return { ...(await live(plan, watching)), trial };
}
