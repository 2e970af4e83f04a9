import { expect, it } from '@jest/globals';
import { runToEnd } from '../planted-bugs/program.js';

const WITHIN_MS = 600_000;
/** Found by the first seeds: one by what was promised, one by twins. */
const SAMPLE = ['owner-answers-before-the-journal', 'conflict-tells-of-rivals'];

it(
  'finds nothing wrong in two hundred worlds',
  async () => {
    const call = ['--seed', '1', '--count', '200'];
    const { code, output } = await runToEnd('.', ['tools/run.mjs', 'test/simulator/main.js', ...call]);
    expect([code, output.match(/^seed .*$/gm) ?? []]).toEqual([0, []]);
    expect(output).toContain('200 seeds from 1: 0 failed');
  },
  WITHIN_MS,
);

it(
  'finds bugs that are planted',
  async () => {
    const call = ['--count', '60', ...SAMPLE];
    const { code, output } = await runToEnd('.', ['tools/run.mjs', 'test/planted-bugs/main.js', ...call]);
    expect([code, output]).toEqual([0, expect.stringContaining('2 of 2 planted bugs found')]);
  },
  WITHIN_MS,
);
