import { randomInt } from 'node:crypto';
import { print } from '#libs/platform/standard-output.js';
import { codeOf } from '#libs/platform/tool-faults.js';
import { readCall, USAGE, type Call } from './call.js';
import { runCampaign } from './campaign.js';
import type { Installation } from './installation/installation.js';
import { ALL_KINDS, wordsForNothing } from './kinds/catalogue.js';
import { reportOf } from './report.js';

const MOST_SEEDS = 1_000_000;
const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = 130;

async function run(call: Call): Promise<number> {
  const { seed, minutes, store, only } = call;
  const began = performance.now();
  print(
    `seed ${seed}: ${minutes} minutes of faults on ${store}${only.length === 0 ? '' : `, only ${only.join()}`}`,
  );
  let site: Installation | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      void Promise.resolve(site?.stop()).finally(() => process.exit(EXIT_INTERRUPTED));
    });
  }
  const stamped = (line: string): void =>
    print(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
  try {
    const outcome = await runCampaign(call, stamped, (started) => (site = started));
    for (const line of reportOf(outcome)) print(line);
    const isFine = outcome.findings.found === 0;
    await site?.stop();
    if (isFine) await site?.remove();
    print(`seed ${seed}: ${isFine ? 'nothing found' : 'FAILED'}`);
    return isFine ? 0 : 1;
  } catch (error) {
    await site?.stop();
    throw error;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args, randomInt(MOST_SEEDS));
  if (call === undefined) {
    print(USAGE);
    return EXIT_USAGE;
  }
  const unknown = wordsForNothing(call.only);
  if (unknown.length === 0) return await run(call);
  print(`there is no fault ${unknown.join()}; there are: ${ALL_KINDS.map(({ name }) => name).join(', ')}`);
  return EXIT_USAGE;
}

process.exitCode = await codeOf('faults', () => main(process.argv.slice(2)));
