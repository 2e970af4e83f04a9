import { draw } from '../plan/draw.js';
import { simulate, type Outcome } from '../simulation.js';
import { compareTwins } from '../twins/compare-twins.js';

/** Every so many seeds a world is lived twice, with and without competitors. */
const TWINS_EVERY = 4;

/** All that one seed stands for. */
export async function search(seed: number): Promise<Outcome> {
  const outcome = await simulate(draw(seed));
  if (outcome.violation !== undefined || seed % TWINS_EVERY !== 0) return outcome;
  const twins = await compareTwins(seed);
  const coverage = { ...outcome.coverage, 'twins compared': 1 };
  return { ...outcome, coverage, violation: twins, digest: outcome.digest };
}
