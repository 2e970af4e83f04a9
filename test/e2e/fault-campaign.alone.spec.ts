import { expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/tool-run.js';

const SEED = 20;
const WITHIN_MS = 280_000;
/** One of each part, such as take seconds to get over. */
const FAULTS = [
  'kill:owner',
  'kill:gateway',
  'rival:owner',
  'block:owner',
  'restart:postgres',
  'clock:+5s',
  'half-open:gateway-owner',
  'cut:owner-postgres',
];

it(
  'keeps every promise while processes, clocks and connections are broken, its journals in PostgreSQL',
  async () => {
    const call = [
      '--seed',
      String(SEED),
      '--minutes',
      '0.6',
      '--store',
      'postgres',
      '--open-auctions',
      '100',
    ];
    const { code, output, errors } = await runTool(
      'libs/testing/faults/main.js',
      [...call, '--only', FAULTS.join()],
      {},
    );
    process.stdout.write(output);
    const told = output.match(/^VIOLATION .*$/gm) ?? [];
    expect([code, told, errors]).toEqual([0, [], '']);
    expect(output).toMatch(/[1-9]\d* faults in [1-9]\d* rounds/);
    expect(output).toMatch(/[1-9]\d* answers to commands checked/);
  },
  WITHIN_MS,
);
