import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from '../installation/installation.js';
import { OWNERS } from '../installation/plan.js';
import type { InjectedFaultKind } from './fault-kind.js';
import { until } from './struck.js';

const JUMPS: Readonly<Record<string, number>> = { '+5s': 5, '-5s': -5, '+1h': 3_600, '-1h': -3_600 };
const WRONG_MS = { least: 3_000, most: 8_000 };
/** Long enough for an owner that is just restarting. */
const SEEN_WITHIN_MS = 15_000;
const ANSWERS_WITHIN_MS = 1_000;
/** Answers are dated to the second, and a date may be a second old. */
const NEARLY_SECONDS = 2.5;

/** The wall clock of an owner jumps, and jumps back later. */
export const clockFaults: readonly InjectedFaultKind[] = Object.entries(JUMPS).map(([name, seconds]) => ({
  name: `clock:${name}`,
  missing: ({ times }) => (times.size > 0 ? undefined : 'libfaketime is not installed'),
  strike: async (site, random) => {
    const owner = random.pick(OWNERS);
    const time = site.times.get(owner);
    time?.shift(seconds);
    try {
      await until(
        async () => Math.abs((await aheadBy(site, owner)) - seconds) < NEARLY_SECONDS,
        SEEN_WITHIN_MS,
        () => `the clock of ${owner} was not seen to have jumped`,
      );
      await sleep(random.between(WRONG_MS.least, WRONG_MS.most));
    } finally {
      time?.shift(0);
    }
  },
}));

/** In seconds, from the date of its answers; NaN if it does not answer. */
async function aheadBy(site: Installation, owner: string): Promise<number> {
  try {
    const url = `${site.internalUrl(owner)}/healthz`;
    const { headers } = await fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    return (Date.parse(headers.get('date') ?? '') - Date.now()) / 1_000;
  } catch {
    return NaN;
  }
}
