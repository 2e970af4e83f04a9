import { expect, it } from '@jest/globals';
import { runToEnd } from '../planted-bugs/program.js';

const WITHIN_MS = 600_000;
/** Bugs that the first seeds find: one by a promise, one by twins. */
const SAMPLE = ['owner-answers-before-the-journal', 'conflict-tells-of-rivals'];

it(
  'two hundred worlds break no promise',
  async () => {
    const call = ['--seed', '1', '--count', '200'];
    const { code, output } = await runToEnd('.', ['tools/run.mjs', 'test/simulator/main.js', ...call]);
    expect([code, output.match(/^seed .*$/gm) ?? []]).toEqual([0, []]);
    expect(output).toContain('200 seeds from 1: 0 failed');
  },
  WITHIN_MS,
);

it(
  'planted bugs are found',
  async () => {
    const call = ['--count', '60', ...SAMPLE];
    const { code, output } = await runToEnd('.', ['tools/run.mjs', 'test/planted-bugs/main.js', ...call]);
    expect([code, output]).toEqual([0, expect.stringContaining('2 of 2 planted bugs found')]);
  },
  WITHIN_MS,
);
