import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import { eventually } from '#libs/testing/eventually.js';
import type { AuctionJson, PreflightJson, QuoteJson } from '#libs/client/wire.js';
import { ServiceRecords } from '../books.js';
import {
  auctionBody,
  CONTRACT,
  INSTANT,
  mustBe,
  sharedFloor,
  type Trader,
  type TradingFloor,
  verdict,
} from '../trading-floor.js';

/** At this price the buying maker pays nine times what the selling originator must put up. */
const PRICE = 900_000;
const VENUE = 'venue_b';
const AFFORDABLE = 10;

let floor: TradingFloor;
let books: ServiceRecords;
let originator: Trader;
let maker: Trader;
let contract: ClusterContract;

beforeAll(async () => {
  floor = await sharedFloor();
  books = new ServiceRecords(floor.cluster);
  [originator, maker] = await floor.newTraders('originator', 'maker');
  contract = floor.contract(VENUE, 1);
}, 60_000);

afterAll(async () => {
  floor.close();
  await books.close();
});

function sells(quantity: number, differing: Readonly<Record<string, unknown>> = {}): Promise<AuctionJson> {
  return originator.opens(
    auctionBody(contract, [maker], {
      side: 'SELL',
      quantity_atoms: quantity,
      limit_price_atoms: PRICE,
      duration_ms: 30_000,
      ...differing,
    }),
  );
}

async function maximum(auctionId: string, quantity = CONTRACT): Promise<number> {
  const { maximum_executable_quantity_atoms: most } = mustBe(
    200,
    await maker.preflightQuote(auctionId, PRICE, quantity),
  );
  return Number(most);
}

function accepted(answers: readonly ApiAnswer<unknown>[]): number {
  return answers.filter(({ status }) => status < 300).length;
}

/** Exactly this many auctions, with some at each of the three owners; surplus ones of a shard are cancelled. */
async function onAllShards(count: number, quantity: number): Promise<AuctionJson[]> {
  const made: AuctionJson[] = [];
  const shardOf = ({ auction_id: id }: AuctionJson): string => id.charAt(0);
  while (made.length < count) {
    const auction = await sells(quantity);
    const shards = new Set([...made, auction].map(shardOf));
    if (count - made.length > 3 - shards.size) made.push(auction);
    else await originator.cancel(auction.auction_id);
  }
  return made;
}

describe('an account that can afford exactly ten quotes', () => {
  it('gets ten of fifteen simultaneous quotes over all shards, again after withdrawing them, and no more by revising', async () => {
    const probe = await sells(CONTRACT);
    const total = await maximum(probe.auction_id);
    const unit = Math.floor(total / AFFORDABLE / (2 * CONTRACT)) * 2 * CONTRACT;
    expect((AFFORDABLE + 1) * unit).toBeGreaterThan(total);
    const auctions = await onAllShards(15, unit);
    const quoteAll = (quantity: number): Promise<ApiAnswer<QuoteJson>[]> =>
      Promise.all(
        auctions.map(({ auction_id: id }) =>
          maker.submit(id, { price_atoms: PRICE, quantity_atoms: quantity }),
        ),
      );
    for (let round = 0; round < 3; round += 1) {
      const answers = await quoteAll(unit);
      expect(accepted(answers)).toBe(AFFORDABLE);
      expect(new Set(answers.filter(({ status }) => status !== 201).map(verdict))).toEqual(
        new Set(['422 INSUFFICIENT_COLLATERAL']),
      );
      expect(await maximum(probe.auction_id)).toBe(total - AFFORDABLE * unit);
      const held = (await books.reserved(maker.accountId))[`${VENUE}/COLLATERAL/`];
      expect(held).toBe((AFFORDABLE * unit * PRICE) / 1_000_000);
      expect(held).toBeLessThanOrEqual(await books.collateral(maker.accountId, VENUE));
      mustBe(200, await maker.api.post('/v1/quotes/withdraw-all', {}));
      await eventually(async () => expect(await maximum(probe.auction_id)).toBe(total));
    }
    // Fifteen halves fit, and the remaining balance lets five of them double.
    const halves = await quoteAll(unit / 2);
    expect(accepted(halves)).toBe(15);
    const doubled = await Promise.all(halves.map(({ body }) => maker.revise(body, { quantity_atoms: unit })));
    expect(accepted(doubled)).toBe(5);
    await Promise.all([...auctions, probe].map(({ auction_id: id }) => originator.cancel(id)));
    await eventually(async () => expect(await books.reserved(maker.accountId)).toEqual({}));
  }, 40_000);
});

describe('a reservation', () => {
  it('is free again after a withdrawal, an expiry, a cancel, a lost and a missed auction', async () => {
    const probe = await sells(CONTRACT);
    const total = await maximum(probe.auction_id);
    const quantity = 1_000 * CONTRACT;
    const quoted = async (differing = {}, more = {}): Promise<QuoteJson> => {
      const { auction_id: id } = await sells(quantity, differing);
      return maker.quotes(id, PRICE, 1_000, more);
    };
    const withdrawn = await quoted();
    const cancelled = await quoted();
    await quoted({}, { expires_at: new Date(Date.now() + 900).toISOString() });
    // Below the minimum fill, so no quote wins.
    await quoted({ duration_ms: 1_000, quantity_atoms: 2 * quantity });
    const rival = await floor.newTrader('maker');
    const lost = await sells(quantity, {
      duration_ms: 1_000,
      audience: { market_maker_ids: [maker.accountId, rival.accountId] },
    });
    await maker.quotes(lost.auction_id, PRICE, 1_000);
    await rival.quotes(lost.auction_id, PRICE + 10_000, 1_000);
    expect(await maximum(probe.auction_id)).toBe(total - 5 * quantity);
    await maker.withdraw(withdrawn);
    await originator.cancel(cancelled.auction_id);
    await eventually(async () => expect(await maximum(probe.auction_id)).toBe(total));
    await originator.until(lost.auction_id, 'SETTLED');
    expect(await books.reserved(maker.accountId)).toEqual({});
    await originator.cancel(probe.auction_id);
    await Promise.all([withdrawn].map((quote) => originator.cancel(quote.auction_id)));
  }, 20_000);

  it('of the originator is free again once its auction is over, and settled amounts are gone', async () => {
    const other = await floor.newTrader('originator');
    const before = await books.reserved(other.accountId);
    const opened = await other.opens(auctionBody(floor.contract(VENUE, 2), [maker], { duration_ms: 1_000 }));
    await maker.quotes(opened.auction_id, 500_000, 10);
    expect(await books.reserved(other.accountId)).not.toEqual(before);
    await other.until(opened.auction_id, 'SETTLED');
    await eventually(async () => expect(await books.reserved(other.accountId)).toEqual(before));
    await eventually(async () => expect(await books.reserved(maker.accountId)).toEqual({}));
  });
});

describe('a preflight', () => {
  const digits = expect.stringMatching(/^(0|[1-9]\d*)$/);

  it('has the documented shape for maker and originator', async () => {
    const auction = await sells(10 * CONTRACT);
    const expected = {
      status: 'EXECUTABLE',
      requested_quantity_atoms: '7000000',
      maximum_executable_quantity_atoms: digits,
      checked_at: expect.stringMatching(INSTANT),
      valid_until: expect.stringMatching(INSTANT),
      routes: [
        {
          venue: VENUE,
          resource_type: expect.stringMatching(
            /^(COLLATERAL|OUTCOME_TOKEN|VENUE_POSITION_LIMIT|SERVICE_EXPOSURE_LIMIT)$/,
          ),
          maximum_executable_quantity_atoms: digits,
          risk_source_sequence: digits,
          risk_valid_until: expect.stringMatching(INSTANT),
          authority_valid_until: expect.stringMatching(INSTANT),
        },
      ],
    };
    const ofQuote = mustBe(200, await maker.preflightQuote(auction.auction_id, PRICE, 7 * CONTRACT));
    expect(ofQuote).toEqual(expected);
    const ofCreate = await originator.preflightCreate(
      auctionBody(contract, [maker], { quantity_atoms: 7 * CONTRACT }),
    );
    expect(mustBe(200, ofCreate)).toEqual(expected);
    expect(ofQuote.valid_until > ofQuote.checked_at).toBe(true);
    await originator.cancel(auction.auction_id);
  });

  /** Atoms above the verdict's maximum: one step too many. */
  function sizes(found: PreflightJson): { most: number; tooMuch: number } {
    const most = Math.floor(Number(found.maximum_executable_quantity_atoms) / CONTRACT) * CONTRACT;
    return { most, tooMuch: most + CONTRACT };
  }

  it.each(['BUY', 'SELL'])(
    'tells a maker exactly what submit then accepts, when the originator wants to %s',
    async (side) => {
      const limit = side === 'BUY' ? 100_000 : PRICE;
      const price = side === 'BUY' ? 100_000 : PRICE;
      const auction = await sells(30_000_000 * CONTRACT, { side, limit_price_atoms: limit });
      const id = auction.auction_id;
      const found = mustBe(200, await maker.preflightQuote(id, price, CONTRACT));
      const { most, tooMuch } = sizes(found);
      expect(mustBe(200, await maker.preflightQuote(id, price, most)).status).toBe('EXECUTABLE');
      expect(mustBe(200, await maker.preflightQuote(id, price, tooMuch))).toMatchObject({
        status: 'INSUFFICIENT_CAPACITY',
        requested_quantity_atoms: String(tooMuch),
        maximum_executable_quantity_atoms: found.maximum_executable_quantity_atoms,
      });
      const short = side === 'BUY' ? '422 INSUFFICIENT_INVENTORY' : '422 INSUFFICIENT_COLLATERAL';
      expect(verdict(await maker.submit(id, { price_atoms: price, quantity_atoms: tooMuch }))).toBe(short);
      const quote = mustBe(201, await maker.submit(id, { price_atoms: price, quantity_atoms: most }));
      // The quote's own hold counts as free for its own revision.
      const again = mustBe(200, await maker.preflightQuote(id, price, CONTRACT));
      expect(again.maximum_executable_quantity_atoms).toBe(found.maximum_executable_quantity_atoms);
      await maker.withdraw(quote);
      await originator.cancel(id);
    },
  );

  it.each(['BUY', 'SELL'])('tells an originator exactly what a create then accepts, to %s', async (side) => {
    const other = await floor.newTrader('originator');
    const asked = (quantity: number): object => ({
      ...auctionBody(contract, [maker], { side, quantity_atoms: quantity, limit_price_atoms: 500_000 }),
    });
    await eventually(async () => expect(await books.reserved(other.accountId)).toEqual({}));
    const found = mustBe(200, await other.preflightCreate({ ...asked(CONTRACT) }));
    const { most, tooMuch } = sizes(found);
    expect(mustBe(200, await other.preflightCreate({ ...asked(tooMuch) })).status).toBe(
      'INSUFFICIENT_CAPACITY',
    );
    const short = side === 'SELL' ? '422 INSUFFICIENT_INVENTORY' : '422 INSUFFICIENT_COLLATERAL';
    expect(verdict(await other.create({ ...asked(tooMuch) }))).toBe(short);
    const opened = mustBe(201, await other.create({ ...asked(most) }));
    expect(verdict(await other.create({ ...asked(CONTRACT) }))).toBe(short);
    await other.cancel(opened.auction_id);
    await eventually(async () => expect(await books.reserved(other.accountId)).toEqual({}));
  });

  it('reserves nothing and leaves no trace', async () => {
    const auction = await sells(10 * CONTRACT);
    const before = await books.reserved(maker.accountId);
    await Promise.all(
      Array.from({ length: 20 }, () => maker.preflightQuote(auction.auction_id, PRICE, 5 * CONTRACT)),
    );
    expect(await books.reserved(maker.accountId)).toEqual(before);
    expect(await maker.timeline(auction.auction_id)).toHaveLength(2);
    await originator.cancel(auction.auction_id);
  });
});
