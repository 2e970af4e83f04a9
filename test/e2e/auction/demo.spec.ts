import { beforeAll, expect, it } from '@jest/globals';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { type TradingFloor, sharedFloor } from '../trading-floor.js';

interface Run {
  readonly code: number | null;
  readonly told: string;
  readonly complaints: readonly string[];
}

let floor: TradingFloor;

beforeAll(async () => {
  floor = await sharedFloor();
}, 60_000);

async function demo(env: Readonly<Record<string, string>>): Promise<Run> {
  const { code, output, errors } = await runTool('apps/demo/main.js', [], env);
  return { code, told: output, complaints: errors.split('\n').filter((line) => line !== '') };
}

it('plays a whole auction against the running cluster and explains it', async () => {
  const began = performance.now();
  const { code, told, complaints } = await demo({ DATA_DIR: floor.cluster.dataDir });
  expect([code, complaints]).toEqual([0, []]);
  const steps = [
    'POST /v1/auctions\n',
    '"status": "OPEN"',
    '/quotes\n',
    '/revise\n',
    '"revision": 2',
    '"average_price_atoms": 488000',
    '"winning_price_atoms": 500000',
    '"status": "SETTLED"',
    'QUOTE_AWARDED',
    'QUOTE_NOT_AWARDED',
  ];
  let place = 0;
  for (const step of steps) {
    place = told.indexOf(step, place);
    if (place < 0) throw new Error(`after the step before it there is no ${step} in\n${told}`);
  }
  // No colours without a terminal.
  expect(told).not.toContain('\u001B');
  expect(performance.now() - began).toBeLessThan(25_000);
}, 40_000);
