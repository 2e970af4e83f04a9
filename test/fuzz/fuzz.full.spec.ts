import { expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

const CALL = ['--seed', '21', '--requests', '2000'];
const WITHIN_MS = 600_000;

it(
  'hostile requests and streams change nothing and end nothing, and are answered as documented and in time',
  async () => {
    const { code, output, errors } = await runTool('test/fuzz/main.js', CALL, {});
    process.stdout.write(output);
    expect([code, output.match(/^VIOLATION .*$/gm) ?? [], errors]).toEqual([0, [], '']);
    // Nearly every operation is accepted now and then; otherwise the run would never get past its first check.
    const [, refused = ''] = /^never more than refused: (.*)$/m.exec(output) ?? [];
    expect(refused.split(', ').length).toBeLessThan(8);
    expect(output).toMatch(/^3\d\d batches and streams held against the state, \d not$/m);
  },
  WITHIN_MS,
);
