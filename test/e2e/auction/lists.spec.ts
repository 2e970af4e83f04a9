import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import {
  auctionBody,
  CONTRACT,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
} from '../trading-floor.js';

interface AuctionPage {
  readonly auctions: readonly AuctionJson[];
  readonly next_cursor?: string;
}

interface QuotePage {
  readonly quotes: readonly QuoteJson[];
  readonly next_cursor?: string;
}

let floor: TradingFloor;
let originator: Trader;
let maker: Trader;

beforeAll(async () => {
  floor = await sharedFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
}, 60_000);

afterAll(() => {
  floor.close();
});

function opens(millis: number): Promise<AuctionJson> {
  return originator.opens(auctionBody(floor.contract('venue_c', 6), [maker], { duration_ms: millis }));
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

async function everyQuote(limit: number, status?: string): Promise<QuoteJson[]> {
  const found: QuoteJson[] = [];
  const filter = status === undefined ? '' : `&status=${status}`;
  let cursor = '';
  do {
    const page = mustBe(200, await maker.api.get<QuotePage>(`/v1/quotes?limit=${limit}${filter}${cursor}`));
    found.push(...page.quotes);
    if (page.next_cursor === undefined) return found;
    expect(page.quotes.length).toBe(limit);
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

describe('the list of auctions', () => {
  it('has 50 items by default, newest first, each as its reader may see it', async () => {
    const made = await Promise.all(Array.from({ length: 55 }, () => opens(20_000)));
    const first = mustBe(200, await originator.api.get<AuctionPage>('/v1/auctions'));
    expect(first.auctions).toHaveLength(50);
    const last = first.auctions.at(-1)!;
    expect(JSON.parse(Buffer.from(first.next_cursor!, 'base64url').toString())).toEqual({
      o: last.opened_at,
      i: last.auction_id,
    });
    const all = await everyAuction(originator, 50);
    expect(isNewestFirst(all.map(({ opened_at: at, auction_id: id }) => [at, id]))).toBe(true);
    expect(all.map(({ auction_id: id }) => id).sort()).toEqual(made.map(({ auction_id: id }) => id).sort());
    const [row] = all;
    expect(row).toEqual(await originator.view(row!.auction_id));
    const seen = await everyAuction(maker, 50);
    expect(seen.map(({ role, auction_id: id }) => [role, id])).toEqual(
      all.map(({ auction_id: id }) => ['MARKET_MAKER', id]),
    );
    await Promise.all(made.map(({ auction_id: id }) => originator.cancel(id)));
  });
});

describe('the list of quotes', () => {
  it('has all own quotes, by status, newest first, from live and completed auctions', async () => {
    const earlier = new Set((await everyQuote(50)).map(({ quote_id: id }) => id));
    const auctions = await Promise.all([
      ...[1_500, 1_500].map(opens),
      ...[0, 0, 0, 0, 0].map(() => opens(20_000)),
    ]);
    const quotes: QuoteJson[] = [];
    for (const { auction_id: id } of auctions) quotes.push(await maker.quotes(id, 500_000, 10));
    await maker.withdraw(quotes[2]!);
    await originator.cancel(auctions[3]!.auction_id);
    await originator.until(auctions[0]!.auction_id, 'SETTLED');
    await originator.until(auctions[1]!.auction_id, 'SETTLED');

    const mine = (await everyQuote(3)).filter(({ quote_id: id }) => !earlier.has(id));
    expect(mine.map(({ quote_id: id }) => id)).toEqual(quotes.map(({ quote_id: id }) => id).reverse());
    expect(mine.map(({ status }) => status).reverse()).toEqual([
      ...['SETTLED', 'SETTLED', 'WITHDRAWN', 'RELEASED', 'ACTIVE', 'ACTIVE', 'ACTIVE'],
    ]);
    for (const status of ['ACTIVE', 'WITHDRAWN', 'RELEASED', 'SETTLED']) {
      const some = (await everyQuote(2, status)).filter(({ quote_id: id }) => !earlier.has(id));
      expect(some).toEqual(mine.filter((quote) => quote.status === status));
    }
    expect(mine[0]).toEqual((await maker.myQuotes(auctions[6]!.auction_id))[0]);
    await Promise.all(auctions.slice(4).map(({ auction_id: id }) => originator.cancel(id)));
  });

  it('of one auction shows the originator nothing before the award, then the awarded ones', async () => {
    const { auction_id: id } = await opens(1_200);
    const quote = await maker.quotes(id, 500_000, 10, { client_reference: 'mine alone' });
    expect(await originator.myQuotes(id)).toEqual([]);
    await originator.until(id, 'SETTLED');
    const [awarded, ...others] = await originator.myQuotes(id);
    expect(others).toEqual([]);
    expect(awarded).toMatchObject({
      quote_id: quote.quote_id,
      price_atoms: 500_000,
      quantity_atoms: 10 * CONTRACT,
    });
    expect(awarded).not.toHaveProperty('client_reference');
  });
});

describe('the contracts', () => {
  interface Contract {
    readonly venue: string;
    readonly contract_id: string;
    readonly equivalence_id: string;
    readonly status: string;
  }
  interface ContractPage {
    readonly contracts: readonly Contract[];
    readonly next_cursor?: string;
  }

  async function everyContract(query = ''): Promise<Contract[]> {
    const found: Contract[] = [];
    let cursor = '';
    for (;;) {
      const page = mustBe(200, await maker.api.get<ContractPage>(`/v1/contracts?limit=7${query}${cursor}`));
      found.push(...page.contracts);
      if (page.next_cursor === undefined) return found;
      cursor = `&cursor=${page.next_cursor}`;
    }
  }

  it('are 40 over five venues, with at least ten pairs that settle the same', async () => {
    const contracts = await everyContract();
    expect(contracts).toHaveLength(40);
    expect(contracts[0]).toEqual({
      venue: expect.any(String),
      contract_id: expect.any(String),
      outcome: expect.any(String),
      title: expect.any(String),
      equivalence_id: expect.any(String),
      price_tick_atoms: expect.any(Number),
      quantity_step_atoms: expect.any(Number),
      status: 'TRADING',
      closes_at: expect.stringMatching(/\.\d{9}Z$/),
    });
    const venues = new Set(contracts.map(({ venue }) => venue));
    expect([...venues].sort()).toEqual(['a', 'b', 'c', 'd', 'e'].map((letter) => `venue_${letter}`));
    const alike = Map.groupBy(contracts, ({ equivalence_id: id }) => id);
    expect([...alike.values()].filter((group) => group.length > 1).length).toBeGreaterThanOrEqual(10);
    const ofVenue = await everyContract('&venue=venue_b');
    expect(ofVenue).toEqual(contracts.filter(({ venue }) => venue === 'venue_b'));
  });

  it('with one meaning make one auction, on the coarser grid of the two', async () => {
    const alike = Map.groupBy(await everyContract(), ({ equivalence_id: id }) => id);
    const pair = [...alike.values()].find(
      (group) =>
        group.some(({ venue }) => venue === 'venue_a') && group.some(({ venue }) => venue === 'venue_c'),
    )!;
    const routes = pair.map(({ venue, contract_id }) => ({ venue, contract_id, outcome: 'YES' }));
    const body = auctionBody(floor.contract('venue_a'), [maker], { routes });
    const opened = await originator.opens(body);
    expect(opened.routes.map(({ venue }) => venue)).toEqual(routes.map(({ venue }) => venue));
    const contracts = floor.cluster.file.contracts.filter((contract) =>
      routes.some(
        ({ venue, contract_id }) => contract.venue === venue && contract.contract_id === contract_id,
      ),
    );
    const coarsest = (steps: readonly number[]): number => Math.max(...steps);
    expect(opened.price_tick_atoms).toBe(coarsest(contracts.map((contract) => contract.price_tick_atoms)));
    expect(opened.quantity_step_atoms).toBe(
      coarsest(contracts.map((contract) => contract.quantity_step_atoms)),
    );
    await originator.cancel(opened.auction_id);
  });
});
