import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export interface Call {
  readonly seed: number;
  readonly count: number;
  readonly threads: number;
  readonly mostFailures: number;
  /** Whether it is a fault that something was never reached. */
  readonly mustReach: boolean;
  readonly showsTrace: boolean;
  readonly shrinks: boolean;
}

export const USAGE = `usage: npm run simulate -- [--seed N] [--count M] [--threads K] [--failures F] [--must-reach] [--trace] [--no-shrink]`;

/** Undefined for a call that cannot be read. */
export function readCall(args: readonly string[]): Call | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string', default: '1' },
        count: { type: 'string', default: '1' },
        threads: { type: 'string', default: String(Math.max(1, Math.min(4, availableParallelism()))) },
        failures: { type: 'string', default: '1' },
        'must-reach': { type: 'boolean', default: false },
        trace: { type: 'boolean', default: false },
        'no-shrink': { type: 'boolean', default: false },
      },
    });
    const seed = Number(values.seed);
    const numbers = [values.count, values.threads, values.failures].map(Number);
    if (![seed, ...numbers].every(Number.isSafeInteger)) return undefined;
    // None of these, and nothing would be looked at.
    if (seed < 0 || numbers.some((number) => number < 1)) return undefined;
    const [count = 1, threads = 1, mostFailures = 1] = numbers;
    const flags = {
      mustReach: values['must-reach'],
      showsTrace: values.trace,
      shrinks: !values['no-shrink'],
    };
    return { seed, count, threads, mostFailures, ...flags };
  } catch {
    return undefined;
  }
}
