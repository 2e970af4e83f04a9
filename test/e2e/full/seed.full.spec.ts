import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster, type OwnedCluster } from '#libs/testing/cluster/cluster.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { auctionBody, TradingFloor } from '../trading-floor.js';

const SETTINGS = { LOAD_ACCOUNTS: 'makers:12,originators:4', LIMITS_FACTOR: '50' };
const COMPLETED = 1_500;
const OPEN = 30;
const QUOTES = 10;

jest.setTimeout(60_000);

let dataDir: string;
let cluster: OwnedCluster;
let told: {
  completed: number;
  open: number;
  oldest_opened_at: string;
  newest_opened_at: string;
  sample_ids: string[];
  rare_viewer: string;
};

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'sotto-e2e-seed-'));
  chmodSync(dataDir, 0o711);
  cluster = await startCluster({ env: SETTINGS, dataDir });
  told = await seeded();
}, 180_000);

afterAll(async () => {
  await cluster.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function seeded(): Promise<typeof told> {
  const counts = ['--completed', String(COMPLETED), '--open', String(OPEN), '--quotes', String(QUOTES)];
  const { code, output, errors } = await tool('bench/seed.js', ...counts, '--audience', '10');
  if (code !== 0) throw new Error(`the seed ended with ${String(code)}: ${errors}`);
  return JSON.parse(output) as typeof told;
}

function tool(program: string, ...args: string[]): Promise<ToolRun> {
  return runTool(program, args, {
    DATA_DIR: dataDir,
    DATABASE_URL: cluster.file.database_url,
  });
}

describe('a cluster that was seeded for measurements', () => {
  it('is reported in one line', () => {
    expect(told).toMatchObject({ completed: COMPLETED, open: OPEN });
    expect(told.sample_ids).toHaveLength(100);
    expect(told.oldest_opened_at < told.newest_opened_at).toBe(true);
  });

  it('has journals, projections and reservations that agree', async () => {
    expect(await tool('apps/cli/main.js journal', 'verify')).toMatchObject({ code: 0 });
    expect(await tool('apps/cli/main.js projection', 'compare')).toMatchObject({ code: 0 });
  });

  it('serves requests: seeded auctions are read, and new ones opened and quoted', async () => {
    const floor = new TradingFloor(cluster);
    const [originator, maker] = await floor.traders('load-originator-1', 'load-maker-1');
    expect((await originator!.view(told.sample_ids[0]!)).auction_id).toBe(told.sample_ids[0]);
    const opened = await originator!.opens(auctionBody(floor.contract('venue_a'), [maker!]));
    await maker!.quotes(opened.auction_id, 400_000, 1);
    floor.close();
  });
});

it('refuses unknown arguments with one line', async () => {
  expect(await tool('bench/seed.js', '--completed', 'many')).toMatchObject({ code: 64 });
  expect(await tool('bench/seed.js')).toMatchObject({ code: 64 });
});
