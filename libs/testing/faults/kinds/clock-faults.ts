import { setTimeout as sleep } from 'node:timers/promises';
import { OWNERS } from '../installation/plan.js';
import type { FaultKind } from './fault-kind.js';

const JUMPS: Readonly<Record<string, number>> = { '+5s': 5, '-5s': -5, '+1h': 3_600, '-1h': -3_600 };
const WRONG_MS = { least: 3_000, most: 8_000 };

/** The wall clock of an owner jumps, and jumps back when somebody sets it. */
export const clockFaults: readonly FaultKind[] = Object.entries(JUMPS).map(([name, seconds]) => ({
  name: `clock:${name}`,
  missing: ({ times }) => (times.size > 0 ? undefined : 'libfaketime is not installed'),
  strike: async ({ times }, random) => {
    const time = times.get(random.pick(OWNERS));
    time?.shift(seconds);
    await sleep(random.between(WRONG_MS.least, WRONG_MS.most));
    time?.shift(0);
  },
}));
