import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';

const MOST_PLACES = 5;
/** The root of the compiled tree. */
const TREE = new URL('../../../', import.meta.url);

/**
 * The error and its location in this tree. The text is the same on every machine, because the digest of a trace
 * covers it.
 */
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
