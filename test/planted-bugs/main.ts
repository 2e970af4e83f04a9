import { parseArgs } from 'node:util';
import { mention } from '#libs/platform/terminal/standard-error.js';
import { print } from '#libs/platform/terminal/standard-output.js';
import { codeOf } from '#libs/platform/terminal/tool-faults.js';
import { PLANTED_BUGS } from './bugs.js';
import { hunt } from './hunt.js';
import { KnownNames } from './known-names.js';
import { FINDERS, type PlantedBug } from './planted-bug.js';
import { spoilt } from './planting.js';
import { sourcesIn, SpoiltTree } from './spoilt-tree.js';

const USAGE = `usage: npm run planted -- [name ...] [--by ${FINDERS.join('|')}] [--count seeds] | --check`;
const EXIT_USAGE = 64;
const ROOT = process.cwd();

interface Call {
  readonly bugs: readonly PlantedBug[];
  readonly count: number;
  readonly checks: boolean;
}

const OPTIONS = {
  by: { type: 'string' },
  count: { type: 'string', default: '1000' },
  check: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Undefined if the arguments are invalid: a run that has planted nothing must not claim that all was found. */
function readCall(args: readonly string[]): Call | undefined {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  if (values.help) return undefined;
  const named = new Set(positionals);
  const bugs = PLANTED_BUGS.filter(
    ({ name, foundBy }) =>
      (named.size === 0 || named.has(name)) && (values.by === undefined || values.by === foundBy),
  );
  const count = Number(values.count);
  const isKnown = positionals.every((name) => PLANTED_BUGS.some((bug) => bug.name === name));
  if (!isKnown || bugs.length === 0 || !Number.isSafeInteger(count) || count < 1) return undefined;
  return { bugs, count, checks: values.check };
}

/** Every bug must fit the present code; otherwise it would test nothing. */
function check({ bugs }: Call): number {
  const names = new KnownNames(ROOT);
  const faults = bugs.flatMap((bug) => {
    try {
      names.mustKnow(spoilt(bug, sourcesIn(ROOT)));
      return [];
    } catch (error) {
      return [`${bug.name} does not fit the code any more: ${String(error)}`];
    }
  });
  for (const fault of faults) mention(fault);
  return faults.length === 0 ? 0 : 1;
}

async function plantAll({ bugs, count }: Call): Promise<number> {
  const tree = new SpoiltTree(ROOT);
  let found = 0;
  try {
    for (const bug of bugs) {
      const began = performance.now();
      const undo = tree.plant(bug);
      const { isFound, what } = await hunt(bug, tree.folder, count);
      undo();
      if (isFound) found += 1;
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      print(`${bug.name} (${seconds} s): ${isFound ? '' : 'NOT FOUND, but '}${what}`);
    }
  } finally {
    tree.remove();
  }
  print(`${found} of ${bugs.length} planted bugs found`);
  return found === bugs.length ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  if (call !== undefined) return call.checks ? check(call) : await plantAll(call);
  mention(USAGE);
  return EXIT_USAGE;
}

process.exitCode = await codeOf('planted', () => main(process.argv.slice(2)));
