import { beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runTool } from '#libs/testing/cluster/tool-run.js';
import { type TradingFloor, sharedFloor } from './trading-floor.js';

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
  // No colours where nobody watches.
  expect(told).not.toContain('\u001B');
  expect(performance.now() - began).toBeLessThan(25_000);
}, 40_000);

it('says in one line why it cannot', async () => {
  const folders = ['absent', 'broken', 'stopped'].map((name) =>
    mkdtempSync(path.join(tmpdir(), `sotto-${name}-`)),
  );
  const [absent, broken, stopped] = folders as [string, string, string];
  writeFileSync(path.join(broken, 'cluster.json'), '{"ready":');
  writeFileSync(path.join(stopped, 'cluster.json'), JSON.stringify({ ...floor.cluster.file, ready: false }));
  const gateway = floor.cluster.gatewayUrl;
  const runs = await Promise.all([
    demo({ DATA_DIR: absent }),
    demo({ DATA_DIR: stopped }),
    demo({ DATA_DIR: broken }),
    demo({ SOTTO_URL: 'http://127.0.0.1:9' }),
    demo({ SOTTO_URL: gateway, SOTTO_PASSWORD: 'wrong' }),
    demo({ SOTTO_URL: 'nowhere' }),
  ]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  expect(runs.map(({ code, complaints }) => [code, complaints])).toEqual([
    [69, [expect.stringMatching(/^demo: no cluster is running in .*absent.*npm start/)]],
    [69, [expect.stringMatching(/^demo: no cluster is running in .*stopped.*npm start/)]],
    [69, [expect.stringMatching(/^demo: .*broken.*cluster\.json does not describe a cluster/)]],
    [69, [expect.stringMatching(/^demo: nothing answers at http:\/\/127\.0\.0\.1:9/)]],
    [69, [expect.stringMatching(/^demo: .*@demo\.sotto cannot log in/)]],
    [78, [expect.stringMatching(/^demo: SOTTO_URL="nowhere" is wrong/)]],
  ]);
}, 30_000);
