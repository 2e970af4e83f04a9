import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { Random } from '../../simulator/kernel/random.js';
import { runOrdersCampaign, type CampaignPlan } from './orders-campaign.js';
import { STRIKES } from './strikes.js';

const USAGE =
  'usage: npm run faults:orders -- [--seed N] [--faults kill:cell,error:read+kill:signer] [--answers N]';
const EXIT_USAGE = 64;
const MOST_SEEDS = 1_000_000;

/** Undefined if the arguments are invalid. If no faults are named, all are used in the order of the seed. */
function readCall(args: readonly string[]): CampaignPlan | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(randomInt(MOST_SEEDS)) },
      faults: { type: 'string', default: '' },
      answers: { type: 'string', default: '30' },
    },
  });
  const [seed = 0, answersBetween = 0] = [values.seed, values.answers].map(Number);
  const named = values.faults.split(',').filter((name) => name !== '');
  const isKnown = named.every((names) => names.split('+').every((name) => name in STRIKES));
  if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(answersBetween) || !isKnown) return undefined;
  const faults = named.length > 0 ? named : new Random(`faults/${seed}`).shuffled(Object.keys(STRIKES));
  return { seed, faults, answersBetween };
}

async function main(args: readonly string[]): Promise<number> {
  const plan = readCall(args);
  if (plan === undefined) {
    print(`${USAGE}\nfaults: ${Object.keys(STRIKES).join(', ')}`);
    return EXIT_USAGE;
  }
  print(`seed ${plan.seed}: ${plan.faults.join()}`);
  const { wrong, orders, fills, answers, unanswered, ends, logs } = await runOrdersCampaign(plan);
  for (const line of wrong) print(`VIOLATION ${line.replaceAll('\n', ' ')}`);
  if (logs !== '') print(logs);
  print(`${orders} orders, ${fills} fills, ${answers} answers, ${unanswered} calls without one`);
  for (const [end, times] of [...ends].sort()) print(`  ${times} ${end}`);
  print(`seed ${plan.seed}: ${wrong.length === 0 ? 'nothing found' : 'FAILED'}`);
  return wrong.length === 0 ? 0 : 1;
}

process.exitCode = await codeOf('faults:orders', () => main(process.argv.slice(2)));
