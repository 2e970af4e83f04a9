import { hearLines, type SimulationOutcome } from '../simulation.js';
import { TRIALS, type TrialName } from './trials.js';

/** Every fourth seed also runs twins: one world with and without competitors. */
const TWINS_EVERY = 4;

export interface Searched extends SimulationOutcome {
  /** The trial of the seed that failed; undefined if the thread was lost before it could say so. */
  readonly trial: TrialName | undefined;
}

/** Gets each line of a trace as soon as it is noted. */
export type TraceListener = (trial: TrialName, line: string) => void;

/** Runs all trials of one seed, until the first one that fails. */
export async function search(seed: number, listener?: TraceListener): Promise<Searched> {
  const outcome = await lived('WORLD', seed, listener);
  if (outcome.violation !== undefined || seed % TWINS_EVERY !== 0) return outcome;
  const twins = await lived('TWINS', seed, listener);
  const coverage = { ...outcome.coverage, 'twins compared': 1 };
  return { ...(twins.violation === undefined ? outcome : twins), coverage };
}

async function lived(trial: TrialName, seed: number, listener: TraceListener | undefined): Promise<Searched> {
  const { plan, live } = TRIALS[trial](seed);
  hearLines(listener === undefined ? undefined : (line) => listener(trial, line));
  return { ...(await live(plan, { keepsTrace: listener !== undefined })), trial };
}
