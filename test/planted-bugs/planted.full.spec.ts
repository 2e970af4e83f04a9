import { expect, it } from '@jest/globals';
import { FINDERS } from './planted-bug.js';
import { runToEnd } from './program.js';

const WITHIN_MS = 3_600_000;

it.each(FINDERS)(
  'finds all bugs that are planted for the %s',
  async (finder) => {
    const { code, output } = await runToEnd('.', [
      'tools/run.mjs',
      'test/planted-bugs/main.js',
      '--by',
      finder,
    ]);
    process.stdout.write(output);
    expect([code, output.match(/^.*NOT FOUND.*$/gm) ?? []]).toEqual([0, []]);
  },
  WITHIN_MS,
);
