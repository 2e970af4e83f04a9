import { rmSync } from 'node:fs';
import type { PlantedBug } from './planted-bug.js';
import { runToEnd } from './program.js';

/** Some bugs keep a world from ending; a sound world takes about a second, and longer on a busy machine. */
const PATIENCE = ['--patience', '120'];
/** Occasional kills are enough for most bugs: the checks must find them. */
const CAMPAIGN = '--seed 5 --store postgres --open-auctions 0 --minutes 0.5 --only kill:gateway';
const FUZZ = '--seed 5 --requests 4000';
const ORDERS = '--seed 5 --faults kill-in-the-middle:executor';
/** Violations of one run of twins begin like this. */
const OF_TWINS = /^twins, \w+ competitors: /;
const LAST_LINES = 4;
const MOST_CHARACTERS = 160;

export interface Hunted {
  readonly isFound: boolean;
  /** The violation found, or the output instead. */
  readonly what: string;
}

/** Looks for the bug planted in the folder. `count` is the largest number of seeds for the simulator. */
export function hunt(bug: PlantedBug, folder: string, count: number): Promise<Hunted> {
  switch (bug.foundBy) {
    case 'simulator':
      return simulate(bug, folder, count);
    case 'campaign':
      return provoke(bug, folder, ['dist/test/faults/main.js', ...words(bug.options ?? CAMPAIGN)]);
    case 'fuzz':
      return provoke(bug, folder, ['dist/test/fuzz/main.js', ...words(bug.options ?? FUZZ)]);
    case 'orders':
      return provoke(bug, folder, ['dist/test/faults/orders/main.js', ...words(bug.options ?? ORDERS)]);
  }
}

/** The seed that finds the bug must find it again with the same trace, as a report promises. */
async function simulate({ promise }: PlantedBug, folder: string, count: number): Promise<Hunted> {
  const once = ['--seed', '1', '--count', String(count), '--threads', '1', '--no-shrink'];
  const { output } = await runToEnd(folder, ['dist/test/simulator/main.js', ...once, ...PATIENCE]);
  const [, seed = '', what = ''] = /^seed (\d+): (.+)$/m.exec(output) ?? [];
  if (seed === '') return { isFound: false, what: lastOf(output) };
  const told = `seed ${seed}: ${what.slice(0, MOST_CHARACTERS)}`;
  if (!promise.test(what.replace(OF_TWINS, ''))) return { isFound: false, what: `another promise: ${told}` };
  const digest = /^seed \d+ fails at commit .*, trace (\S+)$/m.exec(output)?.[1];
  const again = await runToEnd(folder, [
    'dist/test/simulator/main.js',
    '--seed',
    seed,
    '--trace',
    ...PATIENCE,
  ]);
  const [, trace, outcome] = /^seed \d+: trace (\S+), (.*)$/m.exec(again.output) ?? [];
  const isReplayed = trace !== undefined && trace === digest && outcome !== 'nothing found';
  return { isFound: isReplayed, what: isReplayed ? told : `not replayed: ${told}` };
}

async function provoke({ promise }: PlantedBug, folder: string, args: readonly string[]): Promise<Hunted> {
  const { code, output } = await runToEnd(folder, args);
  const logs = /^logs: (.+)\/logs$/m.exec(output)?.[1];
  if (logs !== undefined) rmSync(logs, { recursive: true, force: true });
  const violations = [...output.matchAll(/^VIOLATION (.*)$/gm)].map(([, line = '']) => line);
  const found = violations.find((line) => promise.test(line));
  if (code === 1 && found !== undefined) return { isFound: true, what: found.slice(0, MOST_CHARACTERS) };
  return { isFound: false, what: violations.length > 0 ? violations.join('\n') : lastOf(output) };
}

function words(options: string): string[] {
  return options.split(' ');
}

function lastOf(output: string): string {
  return output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}
