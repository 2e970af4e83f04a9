import { expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

const SEED = 21;
const WITHIN_MS = 200_000;

it(
  'hostile requests and streams change nothing, end nothing, and are answered as documented and in time',
  async () => {
    const call = ['--seed', String(SEED), '--requests', '2000'];
    const { code, output, errors } = await runTool('test/fuzz/main.js', call, {});
    process.stdout.write(output);
    const told = output.match(/^VIOLATION .*$/gm) ?? [];
    expect([code, told, errors]).toEqual([0, [], '']);
    // What a stream has to say in the right order is not always said, and bad logins bar their address to good ones for a while.
    expect(output).toMatch(
      /^never more than refused: (?:nothing|(?:login|unsubscribe|auth\.refresh|quote\.\w+)(?:, (?:login|unsubscribe|auth\.refresh|quote\.\w+))*)$/m,
    );
    expect(output).toMatch(
      /^[1-9]\d* batches refused as a whole, [1-9]\d* in part, \d+ accepted, [0-5] not judged$/m,
    );
    expect(output).toMatch(
      /^[1-9]\d* streams refused as a whole, [1-9]\d* in part, \d+ accepted, [0-3] not judged;/m,
    );
  },
  WITHIN_MS,
);
