import { expect } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';

/** A campaign of half a minute takes one to five minutes, depending on its storage and the machine. A longer one hangs. */
export const CAMPAIGN_WITHIN_MS = 900_000;

/** Half a minute of these faults, by seed; all promises must be kept. */
export async function expectPromisesKept(
  store: 'postgres' | 'kafka',
  seed: number,
  faults: readonly string[],
): Promise<void> {
  const call = ['--seed', String(seed), '--minutes', '0.5', '--store', store, '--open-auctions', '100'];
  const { code, output, errors } = await runTool(
    'test/faults/main.js',
    [...call, '--only', faults.join()],
    {},
  );
  process.stdout.write(output);
  const told = output.match(/^VIOLATION .*$/gm) ?? [];
  expect([code, told, errors]).toEqual([0, [], '']);
  expect(output).toMatch(/[1-9]\d* faults in [1-9]\d* rounds/);
  expect(output).toMatch(/[1-9]\d* answers to commands checked/);
}
