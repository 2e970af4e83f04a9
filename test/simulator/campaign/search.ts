import { hearLines, type SimulationOutcome } from '../simulation.js';
import { TRIALS, type TrialName } from './trials.js';

/** Every so many seeds a world is lived twice, with and without competitors. */
const TWINS_EVERY = 4;

export interface Searched extends SimulationOutcome {
  /** Which of the seed's trials it came of; undefined where nobody lived to tell. */
  readonly trial: TrialName | undefined;
}

/** Whom each line of a trace is told as soon as it is noted. */
export type TraceListener = (trial: TrialName, line: string) => void;

/** All that one seed stands for, up to what breaks first. */
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
