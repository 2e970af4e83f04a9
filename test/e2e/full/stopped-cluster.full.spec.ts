import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { runTool, type ToolRun } from '#libs/testing/cluster/tool-run.js';
import { auctionBody, TradingFloor, type Trader } from '../trading-floor.js';

jest.setTimeout(120_000);

let dataDir: string;
let auctionId: string;

function tool(name: string, ...args: string[]): Promise<ToolRun> {
  return runTool(`apps/cli/main.js ${name}`, args, { DATA_DIR: dataDir });
}

/** Has data of trading, and was stopped in order. */
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'sotto-stopped-'));
  chmodSync(dataDir, 0o711);
  const cluster = await startCluster({ dataDir });
  const floor = new TradingFloor(cluster);
  const [originator, mia] = (await floor.traders('originator-1', 'maker-1')) as [Trader, Trader];
  const body = auctionBody(floor.contract('venue_a'), [mia], { duration_ms: 1_000 });
  ({ auction_id: auctionId } = await originator.opens(body));
  await mia.quotes(auctionId, 400_000, 10);
  await originator.until(auctionId, 'SETTLED');
  floor.close();
  expect(await cluster.stop()).toBe(0);
});
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

describe('without a cluster on the data folder', () => {
  it.each([
    ['journal', ['verify'], 'SOUND'],
    ['journal', ['dump', '--auction'], '"type":"AUCTION_COMPLETED"'],
    ['projection', ['compare'], 'rows'],
    ['projection', ['rebuild'], 'shard 0'],
    ['projection', ['lag'], 'shard 0'],
    ['accounts', ['list'], 'maker-1@demo.sotto'],
    ['ledger', ['show'], 'venue_a'],
  ])('npm run %s -- %j starts the database itself', async (name, args, said) => {
    const more = args.includes('--auction') ? [auctionId] : [];
    const { code, output, errors } = await tool(name, ...args, ...more);
    expect([code, errors, output]).toEqual([0, expect.any(String), expect.stringContaining(said)]);
  });

  it('and stops it again, so that the cluster starts with all its data', async () => {
    const cluster = await startCluster({ dataDir });
    const floor = new TradingFloor(cluster);
    const originator = await floor.trader('originator-1');
    expect(await originator.view(auctionId)).toMatchObject({ status: 'SETTLED' });
    floor.close();
    expect(await cluster.stop()).toBe(0);
  });
});
