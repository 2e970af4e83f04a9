import { randomInt } from 'node:crypto';
import { Random } from '../simulator/kernel/random.js';
import { readCall, USAGE, type Call } from './call.js';
import { fuzz, type Fuzzed, type Verdicts } from './fuzz.js';
import { inMegabytes, type Sizes } from './memory.js';
import { openTarget } from './target.js';

const MOST_SEEDS = 1_000_000;
const EXIT_USAGE = 64;
const STAY_MS = 60_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function inVerdicts(what: string, verdicts: Verdicts): string {
  const [whole, part, none] = (['AS A WHOLE', 'IN PART', 'NOT AT ALL'] as const).map(
    (verdict) => verdicts.get(verdict) ?? 0,
  );
  return `${whole} ${what} refused as a whole, ${part} in part, ${none} not at all`;
}

function report({ judge, spoils, grown, steady, ...counts }: Fuzzed): void {
  const inOrder = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, count]) => `${count} ${name}`)
      .join(', ');
  const inWords = (sizes: Sizes): string =>
    [...sizes].map(([name, bytes]) => `${name} ${inMegabytes(bytes)}`).join(', ');
  say(`spoilt: ${inOrder(spoils)}`);
  say(`answers: ${inOrder(judge.statuses)}`);
  say(`memory, more than after the warm-up: ${inWords(grown)}`);
  say(`memory, more in each part since, at least: ${inWords(steady)}`);
  for (const [what, how] of judge.found) say(`\nVIOLATION ${what}\n${how.replaceAll(/^/gm, '    ')}`);
  say(inVerdicts('batches', counts.batches));
  say(`${inVerdicts('streams', counts.streams)}; ${counts.putBack} quotes put back`);
  say(`${counts.requests} requests, ${counts.frames} frames, ${judge.found.size} violations`);
}

const call = readCall(process.argv.slice(2), randomInt(MOST_SEEDS));
if (call === undefined) {
  say(USAGE);
  process.exitCode = EXIT_USAGE;
} else {
  say(`seed ${call.seed}: ${call.requests} hostile requests`);
  // The launcher of a cluster does not hold up whoever started it; this one waits for it on purpose.
  const stay = setInterval(() => undefined, STAY_MS);
  try {
    process.exitCode = await run(call);
  } finally {
    clearInterval(stay);
  }
}

async function run({ seed, requests }: Call): Promise<number> {
  const target = await openTarget();
  try {
    const fuzzed = await fuzz(target, requests, new Random(`fuzz ${seed}`));
    report(fuzzed);
    return fuzzed.judge.found.size === 0 ? 0 : 1;
  } finally {
    target.furniture.close();
    await target.cluster.stop();
  }
}
