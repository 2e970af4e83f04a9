import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { auctionBody, mustBe, type Trader, TradingFloor } from '../trading-floor.js';

interface AuctionPage {
  readonly auctions: readonly AuctionJson[];
  readonly next_cursor?: string;
}

const PASSES = 12;

let floor: TradingFloor;
let originator: Trader;
let maker: Trader;

beforeAll(async () => {
  const env = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:1,originators:1' };
  floor = new TradingFloor(await startCluster({ env }));
  [originator, maker] = await floor.newTraders('originator', 'maker');
}, 60_000);

afterAll(() => floor.end());

function opens(): Promise<AuctionJson> {
  return originator.opens(auctionBody(floor.contract('venue_c', 6), [maker], { duration_ms: 1_000 }));
}

async function everyAuction(trader: Trader, limit: number): Promise<AuctionJson[]> {
  const found: AuctionJson[] = [];
  let cursor = '';
  do {
    const page = mustBe(200, await trader.api.get<AuctionPage>(`/v1/auctions?limit=${limit}${cursor}`));
    found.push(...page.auctions);
    if (page.next_cursor === undefined) return found;
    expect(page.auctions.length).toBe(limit);
    cursor = `&cursor=${page.next_cursor}`;
  } while (found.length < 10_000);
  throw new Error('the pages do not end');
}

function isNewestFirst(keys: readonly (readonly [string, string])[]): boolean {
  return keys.every(([at, id], index) => {
    const before = keys[index - 1];
    return before === undefined || before[0] > at || (before[0] === at && before[1] > id);
  });
}

it('the list of auctions is complete and without repeats while auctions open, complete and are cancelled', async () => {
  const known = new Set((await everyAuction(originator, 50)).map(({ auction_id: id }) => id));
  let open = true;
  let passes = 0;
  const trade = async (): Promise<void> => {
    while (open) {
      const { auction_id: id } = await opens();
      known.add(id);
      if (known.size % 4 === 0) await originator.cancel(id);
    }
  };
  const read = async (trader: Trader, limit: number): Promise<void> => {
    while (open) {
      const before = [...known];
      const rows = await everyAuction(trader, limit);
      const ids = rows.map(({ auction_id: id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(isNewestFirst(rows.map(({ opened_at: at, auction_id: id }) => [at, id]))).toBe(true);
      const found = new Set(ids);
      expect(before.filter((id) => !found.has(id))).toEqual([]);
      passes += 1;
    }
  };
  const work = [trade(), trade(), read(originator, 7), read(maker, 50)];
  await Promise.race([eventually(() => expect(passes).toBeGreaterThan(PASSES), 25_000), Promise.all(work)]);
  open = false;
  await Promise.all(work);
}, 30_000);
