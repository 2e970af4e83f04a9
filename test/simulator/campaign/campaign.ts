import type { Searched } from './search.js';
import type { SearchThread } from './thread.js';

export interface CampaignOptions {
  readonly from: number;
  readonly count: number;
  readonly threads: number;
  readonly thread: () => SearchThread;
  readonly onOutcome: (outcome: Searched, done: number) => void;
  /** The campaign ends after this many failed seeds. */
  readonly mostFailures: number;
}

export interface CampaignResult {
  readonly searched: number;
  readonly failures: readonly Searched[];
  readonly coverage: ReadonlyMap<string, number>;
  readonly steps: number;
  readonly simulatedMillis: number;
}

/** Searches seeds on several threads. The result does not depend on which thread searched which seed. */
export async function campaign(options: CampaignOptions): Promise<CampaignResult> {
  const { from, count, threads, mostFailures } = options;
  const failures: Searched[] = [];
  const coverage = new Map<string, number>();
  let [next, searched, steps, simulatedMillis] = [from, 0, 0, 0];
  const note = (outcome: Searched): void => {
    searched += 1;
    steps += outcome.steps;
    simulatedMillis += outcome.simulatedMillis;
    for (const [name, times] of Object.entries(outcome.coverage)) {
      coverage.set(name, (coverage.get(name) ?? 0) + times);
    }
    if (outcome.violation !== undefined) failures.push(outcome);
    options.onOutcome(outcome, searched);
  };
  const lane = async (): Promise<void> => {
    const thread = options.thread();
    try {
      while (next < from + count && failures.length < mostFailures) {
        const seed = next;
        next += 1;
        note(await thread.search(seed, false));
      }
    } finally {
      await thread.end();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, count) }, lane));
  failures.sort((a, b) => a.seed - b.seed);
  return { searched, failures, coverage, steps, simulatedMillis };
}
