import { expect, it } from '@jest/globals';
import { describeWithKafka } from '#libs/testing/kafka/test-kafka.js';
import { runTool } from '#libs/testing/tool-run.js';

const SEED = 22;
const WITHIN_MS = 280_000;
const FAULTS = [
  'kill:broker',
  'pause:broker',
  'kill:owner',
  'kill:projector',
  'cut:owner-broker',
  'half-open:owner-broker',
];

describeWithKafka('a campaign of faults', { brokers: 0 }, () => {
  it(
    'keeps every promise while brokers and the ways to them are broken, its journals on three of them',
    async () => {
      const call = ['--seed', String(SEED), '--minutes', '0.6', '--store', 'kafka', '--open-auctions', '100'];
      const { code, output, errors } = await runTool(
        'libs/testing/faults/main.js',
        [...call, '--only', FAULTS.join()],
        {},
      );
      process.stdout.write(output);
      const told = output.match(/^VIOLATION .*$/gm) ?? [];
      expect([code, told, errors]).toEqual([0, [], '']);
      expect(output).toMatch(/[1-9]\d* faults in [1-9]\d* rounds/);
    },
    WITHIN_MS,
  );
});
