import { expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

const CALL = ['--seed', '21', '--requests', '2000'];
const WITHIN_MS = 600_000;

it(
  'hostile requests and streams change nothing, end nothing, and are answered as documented and in time',
  async () => {
    const { code, output, errors } = await runTool('test/fuzz/main.js', CALL, {});
    process.stdout.write(output);
    expect([code, output.match(/^VIOLATION .*$/gm) ?? [], errors]).toEqual([0, [], '']);
    // Streams do not always say what they have to in the right order, and bad logins bar their address to good ones for a while.
    const [, refused = ''] = /^never more than refused: (.*)$/m.exec(output) ?? [];
    const hard = refused
      .split(', ')
      .filter((name) => !/^(nothing|login|unsubscribe|auth\.refresh|quote\.\w+)$/.test(name));
    expect(hard).toEqual([]);
    expect(output).toMatch(/^\d{3} batches and streams held against the state, \d not$/m);
  },
  WITHIN_MS,
);
