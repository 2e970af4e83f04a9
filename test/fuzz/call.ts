import { parseArgs } from 'node:util';

export interface Call {
  readonly seed: number;
  readonly requests: number;
}

export const USAGE = 'usage: npm run fuzz -- [--seed N] [--requests N]';

/** Undefined for a call that cannot be read. A seed that nobody has chosen is `chance`. */
export function readCall(args: readonly string[], chance: number): Call | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string', default: String(chance) },
        requests: { type: 'string', default: '20000' },
      },
    });
    const [seed, requests] = [Number(values.seed), Number(values.requests)];
    if (!Number.isSafeInteger(seed) || seed < 0 || !Number.isSafeInteger(requests) || requests < 1)
      return undefined;
    return { seed, requests };
  } catch {
    return undefined;
  }
}
