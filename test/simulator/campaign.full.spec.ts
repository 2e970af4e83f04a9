import { expect, it } from '@jest/globals';
import { runToEnd } from '../planted-bugs/program.js';

const WITHIN_MS = 1_800_000;

it(
  'a thousand worlds break no promise and reach every coverage goal',
  async () => {
    const call = ['--seed', '1', '--count', '1000', '--must-reach'];
    const { code, output } = await runToEnd('.', ['tools/run.mjs', 'test/simulator/main.js', ...call]);
    process.stdout.write(output);
    expect([code, output.match(/^seed .*$|not reached.*$/gm) ?? []]).toEqual([0, []]);
  },
  WITHIN_MS,
);
