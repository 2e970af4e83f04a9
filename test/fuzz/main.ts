import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { fuzz, type Fuzzed } from './fuzz.js';
import { openTarget } from './target.js';

interface Call {
  readonly seed: number;
  readonly requests: number;
}

const USAGE = 'usage: npm run fuzz -- [--seed N] [--requests N]';
const MOST_SEEDS = 1_000_000;
const EXIT_USAGE = 64;
const STAY_MS = 60_000;

/** Undefined if the arguments are invalid. */
function readCall(args: readonly string[]): Call | undefined {
  try {
    const options = {
      seed: { type: 'string', default: String(randomInt(MOST_SEEDS)) },
      requests: { type: 'string', default: '20000' },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    const [seed, requests] = [Number(values.seed), Number(values.requests)];
    const isGood = Number.isSafeInteger(seed) && seed >= 0 && Number.isSafeInteger(requests) && requests >= 1;
    return isGood ? { seed, requests } : undefined;
  } catch {
    return undefined;
  }
}

function inOrder(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function report({ judge, mutations, refusedAlways, ...counts }: Fuzzed): void {
  print(`mutated: ${inOrder(mutations)}`);
  print(`answers: ${inOrder(judge.statuses)}`);
  for (const line of judge.lines) print(line);
  print(`never more than refused: ${refusedAlways.join(', ') || 'nothing'}`);
  print(`${counts.judged} batches and streams held against the state, ${counts.notJudged} not`);
  print(`${counts.requests} requests, ${counts.frames} frames, ${judge.found} sorts of violations`);
}

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  if (call === undefined) {
    print(USAGE);
    return EXIT_USAGE;
  }
  print(`seed ${call.seed}: ${call.requests} hostile requests`);
  // The launcher of a cluster does not keep this process running, so the timer does.
  const stay = setInterval(() => undefined, STAY_MS);
  try {
    const target = await openTarget();
    try {
      const fuzzed = await fuzz(target, call.requests, call.seed);
      report(fuzzed);
      return fuzzed.judge.found === 0 ? 0 : 1;
    } finally {
      await target.close();
    }
  } finally {
    clearInterval(stay);
  }
}

process.exitCode = await codeOf('fuzz', () => main(process.argv.slice(2)));
