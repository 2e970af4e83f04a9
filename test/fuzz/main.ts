import { randomInt } from 'node:crypto';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { Random } from '../simulator/kernel/random.js';
import { readCall, USAGE, type Call } from './call.js';
import { fuzz, type Fuzzed, type Verdicts } from './fuzz.js';
import { inMegabytes, type Sizes } from './memory.js';
import { openTarget } from './target.js';

const MOST_SEEDS = 1_000_000;
const EXIT_USAGE = 64;
const STAY_MS = 60_000;

function inVerdicts(what: string, verdicts: Verdicts): string {
  const [whole, part, nothing, none] = (
    ['AS A WHOLE', 'IN PART', 'NOTHING REFUSED', 'NOT AT ALL'] as const
  ).map((verdict) => verdicts.get(verdict) ?? 0);
  return `${whole} ${what} refused as a whole, ${part} in part, ${nothing} accepted, ${none} not judged`;
}

function report({ judge, spoils, refusedAlways, grown, steady, ...counts }: Fuzzed): void {
  const inOrder = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, count]) => `${count} ${name}`)
      .join(', ');
  const inWords = (sizes: Sizes): string =>
    [...sizes].map(([name, bytes]) => `${name} ${inMegabytes(bytes)}`).join(', ');
  print(`spoilt: ${inOrder(spoils)}`);
  print(`answers: ${inOrder(judge.statuses)}`);
  print(`memory, more than after the warm-up: ${inWords(grown)}`);
  print(`memory, more in each part since, at least: ${inWords(steady)}`);
  for (const line of judge.lines) print(line);
  print(`never more than refused: ${refusedAlways.join(', ') || 'nothing'}`);
  print(inVerdicts('batches', counts.batches));
  print(`${inVerdicts('streams', counts.streams)}; ${counts.putBack} quotes put back`);
  print(`${counts.leavers} reset the connection behind their request`);
  print(`${counts.requests} requests, ${counts.frames} frames, ${judge.found} sorts of violations`);
}

async function run({ seed, requests }: Call): Promise<number> {
  const target = await openTarget();
  try {
    const fuzzed = await fuzz(target, requests, new Random(`fuzz ${seed}`));
    report(fuzzed);
    return fuzzed.judge.found === 0 ? 0 : 1;
  } finally {
    target.close();
    await target.cluster.stop();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args, randomInt(MOST_SEEDS));
  if (call === undefined) {
    print(USAGE);
    return EXIT_USAGE;
  }
  print(`seed ${call.seed}: ${call.requests} hostile requests`);
  // The launcher of a cluster does not hold up whoever started it; this one waits for it on purpose.
  const stay = setInterval(() => undefined, STAY_MS);
  try {
    return await run(call);
  } finally {
    clearInterval(stay);
  }
}

process.exitCode = await codeOf('fuzz', () => main(process.argv.slice(2)));
