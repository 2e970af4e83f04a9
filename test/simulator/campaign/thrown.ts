import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

const MOST_PLACES = 5;
/** Where the compiled tree lies. */
const TREE = new URL('../../../', import.meta.url);

/** What was thrown, and where in this tree; in words that are the same on every machine, since a trace is told by its digest. */
export function thrown(error: unknown): string {
  if (!(error instanceof Error)) return `${inspect(error)} was thrown`;
  return [`${error.name}: ${error.message}`, ...placesOf(error.stack ?? '')].join('\n');
}

function placesOf(stack: string): string[] {
  return stack
    .split('\n')
    .map((line) => line.replace(TREE.href, '').replace(fileURLToPath(TREE), ''))
    .filter((line) => /^ +at .*\b(?:libs|apps|test)\//.test(line))
    .filter((line) => !line.includes('/node_modules/'))
    .slice(0, MOST_PLACES);
}
