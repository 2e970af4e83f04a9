import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface SimulateCall {
  readonly seed: number;
  readonly count: number;
  readonly threads: number;
  readonly mostFailures: number;
  /** A seed that has not ended after this time is given up. */
  readonly patienceSeconds: number;
  /** Whether a goal that was never reached fails the run. */
  readonly mustReach: boolean;
  readonly showsTrace: boolean;
  readonly shrinks: boolean;
}

export const USAGE = `usage: npm run simulate -- [--seed N] [--count M] [--threads K] [--failures F] [--patience S] [--must-reach] [--no-shrink]
       npm run simulate -- [--seed N] [--patience S] --trace`;

const PATIENCE_SECONDS = 60;
/** A timer cannot wait much longer than three weeks. */
const MOST_PATIENCE_SECONDS = 1_000_000;

/** Undefined for a call that cannot be read. */
export function readCall(args: readonly string[]): SimulateCall | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string' },
        threads: { type: 'string' },
        failures: { type: 'string' },
        patience: { type: 'string', default: String(PATIENCE_SECONDS) },
        'must-reach': { type: 'boolean' },
        trace: { type: 'boolean', default: false },
        'no-shrink': { type: 'boolean' },
      },
    });
    const { seed, patience, trace: showsTrace, ...ofMany } = values;
    // A trace shows one seed, so options for many seeds would be ignored silently.
    if (showsTrace && Object.keys(ofMany).length > 0) return undefined;
    const { count = '1', failures = '1', threads = String(defaultThreads()) } = ofMany;
    const call = {
      seed: whole(seed, 0),
      count: whole(count, 1),
      threads: whole(threads, 1),
      mostFailures: whole(failures, 1),
      patienceSeconds: whole(patience, 1, MOST_PATIENCE_SECONDS),
      mustReach: ofMany['must-reach'] ?? false,
      showsTrace,
      shrinks: ofMany['no-shrink'] !== true,
    };
    // Beyond the safe integers, adding one often gives the same number.
    return Number.isSafeInteger(call.seed + (call.count - 1)) ? call : undefined;
  } catch {
    return undefined;
  }
}

function defaultThreads(): number {
  return Math.max(1, Math.min(4, availableParallelism()));
}

function whole(text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new RangeError(`${text} is not a number from ${least} to ${most}`);
}
