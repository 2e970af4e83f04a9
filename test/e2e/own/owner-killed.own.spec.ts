import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startCluster } from '#libs/testing/cluster/cluster.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import { allKnown, allOver, createsOf, lostOf, moreLoad } from '../load-outcome.js';
import { mustBe, TradingFloor, verdict, type Trader } from '../trading-floor.js';
import { TradingLoad, type Sent } from '../trading-load.js';

interface Page {
  readonly auctions: readonly AuctionJson[];
  readonly next_cursor?: string;
}

const SETTINGS = { LIMITS_FACTOR: '50', LOAD_ACCOUNTS: 'makers:3,originators:3' };
const ANSWERS_BETWEEN_KILLS = 30;

let floor: TradingFloor;
let books: ServiceRecords;
let load: TradingLoad;
let traders: readonly Trader[];
let wealthBefore: Record<string, string>;
/** What the callers know after repeating each unanswered command with its key. */
let known: readonly Sent[];

beforeAll(async () => {
  floor = new TradingFloor(await startCluster({ env: SETTINGS }));
  books = new ServiceRecords(floor.cluster);
  const originators = await floor.newTraders('originator', 'originator', 'originator');
  const makers = await floor.newTraders('maker', 'maker', 'maker');
  traders = [...originators, ...makers];
  wealthBefore = await books.wealth();
  load = new TradingLoad(floor, originators, makers);
  load.start();
  for (const owner of ['owner-0', 'owner-2']) {
    await moreLoad(load, ANSWERS_BETWEEN_KILLS);
    await floor.cluster.restartOf(owner, floor.cluster.kill(owner));
  }
  await moreLoad(load, ANSWERS_BETWEEN_KILLS);
  await load.stop();
  known = await allKnown(load);
  await allOver(known);
}, 120_000);

afterAll(async () => {
  await books.close();
  await floor.end();
});

async function listOf({ api }: Trader): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const page = mustBe(200, await api.get<Page>(`/v1/auctions?limit=50${cursor}`));
    ids.push(...page.auctions.map(({ auction_id: id }) => id));
    if (page.next_cursor === undefined) return ids;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('after kill -9 of owners under load', () => {
  it('there was load, and some of it was cut off', () => {
    expect(createsOf(known).length).toBeGreaterThan(10);
    expect(load.unknown.length).toBeGreaterThan(0);
  });

  it('everything acknowledged is there, as it was answered', async () => {
    expect(await lostOf(known)).toEqual([]);
  });

  it('no auction exists without an acknowledged create, and none twice', async () => {
    const listed = await Promise.all(traders.slice(0, 3).map((originator) => listOf(originator)));
    const told = createsOf(known).map(({ answer }) => answer!.body.auction_id);
    expect(listed.flat().sort()).toEqual(told.sort());
  });

  it('a command without an answer, repeated, was done once, is done now, or is refused', () => {
    const keys = new Set(load.unknown.map(({ key }) => key));
    const verdicts = known.filter(({ key }) => keys.has(key)).map(({ answer }) => verdict(answer!));
    const refused = ['AUCTION_NOT_OPEN', 'QUOTE_NOT_REVISABLE', 'QUOTE_NOT_WITHDRAWABLE'];
    const fine = new Set(['200', '201', ...refused.map((code) => `422 ${code}`)]);
    expect(verdicts.filter((told) => !fine.has(told))).toEqual([]);
  });

  it('the sums of the ledger are unchanged, and nothing is reserved any more', async () => {
    expect(await books.imbalances()).toEqual({});
    expect(await books.wealth()).toEqual(wealthBefore);
    await eventually(async () => {
      for (const { accountId } of traders) expect(await books.reserved(accountId)).toEqual({});
    });
  });
});
