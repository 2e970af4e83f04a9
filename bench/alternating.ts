import { median } from './statistics.js';
import type { Settings } from './row.js';

/** One measurement of a path or of its baseline. */
export type Lane = () => Promise<number>;

/**
 * Runs all lanes in turn, several times, so that a drift of the machine affects all of them. Returns the
 * medians, and every run in order.
 */
export async function alternating<Name extends string>(
  lanes: Readonly<Record<Name, Lane>>,
  { runs, say }: Settings,
): Promise<{ medians: Record<Name, number>; runs: Record<Name, number[]> }> {
  const names = Object.keys(lanes) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let run = 1; run <= runs; run += 1) {
    for (const name of names) figures[name].push(await lanes[name]());
    const latest = names.map((name) => `${name} ${rounded(figures[name].at(-1) ?? 0)}`);
    say(`run ${run} of ${runs}: ${latest.join(', ')}`);
  }
  const medians = Object.fromEntries(names.map((name) => [name, median(figures[name])])) as Record<
    Name,
    number
  >;
  return { medians, runs: figures };
}

export function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
