import { randomInt } from 'node:crypto';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { readCall, USAGE, type FaultsCall } from './call.js';
import { Campaign } from './campaign.js';
import { seconds } from './in-words.js';
import { ALL_KINDS, wordsForNothing } from './kinds/catalogue.js';
import { reportOf } from './report.js';
import { shortcomings } from './tally.js';

const MOST_SEEDS = 1_000_000;
const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = 130;

async function run(call: FaultsCall): Promise<number> {
  const { seed, minutes, store, only } = call;
  const began = performance.now();
  print(
    `seed ${seed}: ${minutes} minutes of faults on ${store}${only.length === 0 ? '' : `, only ${only.join()}`}`,
  );
  const fate = { isInterrupted: false };
  const campaign = new Campaign(call, (line) => {
    if (!fate.isInterrupted) print(`${seconds(performance.now() - began).padStart(9)}  ${line}`);
  });
  const interrupt = (): void => {
    if (fate.isInterrupted) {
      campaign.site?.unmount();
      process.exit(EXIT_INTERRUPTED);
    }
    fate.isInterrupted = true;
    void conclude(campaign, `seed ${seed}: interrupted`).finally(() => process.exit(EXIT_INTERRUPTED));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  try {
    await campaign.run();
  } catch (error) {
    await campaign.site?.stop();
    if (!fate.isInterrupted) {
      if (campaign.site !== undefined) print(`logs: ${campaign.site.logFolder}`);
      throw error;
    }
  }
  // The interrupt handler ends the process.
  if (fate.isInterrupted) return await new Promise(() => undefined);
  const isFine = isSound(campaign);
  await conclude(campaign, `seed ${seed}: ${isFine ? 'nothing found' : 'FAILED'}`);
  return isFine ? 0 : 1;
}

function isSound({ outcome: { findings, tally, isWhole } }: Campaign): boolean {
  return findings.found === 0 && shortcomings(tally, isWhole ? findings.checked : undefined).length === 0;
}

/** Prints the findings, stops the installation, and names what could not be removed or is kept for its logs. */
async function conclude(campaign: Campaign, lastLine: string): Promise<void> {
  const { site, outcome } = campaign;
  const isKept = outcome.isWhole ? !isSound(campaign) : outcome.findings.found > 0;
  for (const line of reportOf(outcome)) print(line);
  await site?.stop();
  if (site !== undefined && !isKept) await site.remove().catch(() => undefined);
  if (isKept && site !== undefined) print(`logs: ${site.logFolder}`);
  for (const place of site?.left ?? []) if (!isKept || place !== site?.folder) print(`left: ${place}`);
  print(lastLine);
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
