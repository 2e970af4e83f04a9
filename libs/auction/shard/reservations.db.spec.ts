import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AuctionState } from '../rules/state.js';
import type { AwardToSettle } from '../settlement/settlement.js';
import { eventually } from '#libs/testing/eventually.js';
import { expectedHolds } from '#libs/testing/auctions/holds.js';
import { LiveShard, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import {
  cancelOrder,
  type QuoteName,
  reviseOrder,
  submitOrder,
  withdrawAllOrder,
  withdrawOrder,
} from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const [OLGA, MIA, MAX] = ['olga', 'mia', 'max'].map(accountOf) as [string, string, string];
const TERMS = { price_atoms: 500_000, quantity_atoms: 4_000_000 };
/** Selling four contracts at 0.50 requires 0.50 a contract. */
const COST_OF_QUOTE = 2_000_000;

let world: ShardWorld;
let live: LiveShard;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());

async function quotes(auctionId: string, account = MIA, different: object = {}): Promise<QuoteName> {
  const { status, body, text } = await live.ask(submitOrder(account, auctionId, { ...TERMS, ...different }));
  if (status !== 201) throw new Error(`the quote was refused: ${text}`);
  return { auction_id: auctionId, quote_id: String(body.quote_id) };
}

function states(...shards: LiveShard[]): AuctionState[] {
  return shards.flatMap(({ shard }) => [...shard.book.all()].map(({ durable }) => durable!));
}

/** The reservations of this shard match its auctions. */
function booksAgree(): Promise<void> {
  return eventually(async () => expect(await world.reservedBy(0)).toEqual(expectedHolds(states(live))));
}

function free(): Promise<void> {
  return eventually(async () => expect(await world.reservedBy(0)).toEqual({}));
}

describe('a reservation', () => {
  beforeEach(async () => {
    live = await LiveShard.open(world);
  });
  afterEach(() => live.stop());

  it('is written before the caller gets its reply', async () => {
    const auctionId = await live.opens();
    expect(await world.reservedBy(0)).toEqual(expectedHolds(states(live)));
    await quotes(auctionId);
    expect(await world.reservedOf('mia')).toContainEqual({
      venue: 'venue_a',
      resource: 'COLLATERAL',
      asset: '',
      amount: COST_OF_QUOTE,
    });
    await live.ask(cancelOrder(OLGA, auctionId));
    await free();
  });

  it('grows at once with a revision, and shrinks after the revision is durable', async () => {
    const auctionId = await live.opens();
    const quote = await quotes(auctionId);
    const more = reviseOrder(MIA, quote, {
      expected_revision: 1,
      price_atoms: 400_000,
      quantity_atoms: 5_000_000,
    });
    expect((await live.ask(more)).status).toBe(200);
    expect(await world.reservedBy(0)).toEqual(expectedHolds(states(live)));
    const less = reviseOrder(MIA, quote, {
      expected_revision: 2,
      price_atoms: 600_000,
      quantity_atoms: 1_000_000,
    });
    expect((await live.ask(less)).status).toBe(200);
    await booksAgree();
    await live.ask(cancelOrder(OLGA, auctionId));
    await free();
  });

  it('is released after a withdrawal, before the caller gets its reply', async () => {
    const auctionId = await live.opens();
    await live.ask(withdrawOrder(MIA, await quotes(auctionId)));
    expect(await world.reservedOf('mia')).toEqual([]);
    await booksAgree();
    await live.ask(cancelOrder(OLGA, auctionId));
    await free();
  });

  it('is kept only for what was won, until the award has ended', async () => {
    // Ten wanted: Max is cheaper and gets all of his eight, Mia two of her four.
    const auctionId = await live.opens();
    await quotes(auctionId, MIA);
    await quotes(auctionId, MAX, { price_atoms: 400_000, quantity_atoms: 8_000_000 });
    await quotes(auctionId, accountOf('moe'), { price_atoms: 700_000 });
    await live.leap(60_000);
    await eventually(() => expect(live.shard.book.find(auctionId)?.durable?.status).toBe('AWARDED'));
    await booksAgree();
    expect(await world.reservedOf('moe')).toEqual([]);
    expect(await world.reservedOf('mia')).toContainEqual(
      expect.objectContaining({ resource: 'COLLATERAL', amount: COST_OF_QUOTE / 2 }),
    );
    const pending = await live.ask({ op: 'pending_awards', known: [], wait_ms: 0 });
    const awards = JSON.parse(pending.text) as AwardToSettle[];
    const report = { op: 'execution_report', auction_id: auctionId, attempt: 1 } as const;
    const awardOf = (maker: string): string =>
      awards.find(({ seller }) => seller.account === maker)!.award_id;
    await live.ask({ ...report, award_id: awardOf(MIA), step: 'CONFIRMED' });
    expect(await world.reservedOf('mia')).toEqual([]);
    await booksAgree();
    await live.ask({ ...report, award_id: awardOf(MAX), step: 'FAILED', reason: 'NO_LUCK' });
    await free();
    expect(live.shard.book.find(auctionId)?.durable?.status).toBe('PARTIALLY_SETTLED');
  });

  it('is released if the rules refuse a command that was already reserved for', async () => {
    const auctionId = await live.opens();
    const quote = await quotes(auctionId);
    // All at once: the state under a reservation may have changed by the time of the decision.
    const rounds: Promise<ShardAnswer>[] = [];
    for (let round = 0; round < 10; round += 1) {
      rounds.push(
        live.ask(reviseOrder(MIA, quote, { expected_revision: 1, price_atoms: 300_000 + round * 1_000 })),
        live.ask(withdrawAllOrder(MIA)),
        live.ask(submitOrder(MIA, auctionId, TERMS)),
        live.ask(submitOrder(MAX, auctionId, TERMS)),
      );
    }
    rounds.push(live.ask(cancelOrder(OLGA, auctionId)));
    const statuses = (await Promise.all(rounds)).map(({ status }) => status);
    expect(statuses.every((status) => [200, 201, 409, 422].includes(status))).toBe(true);
    await booksAgree();
    await free();
    expect(live.faults).toEqual([]);
  });

  it('that fails leaves nothing reserved, and the command may be repeated', async () => {
    const auctionId = await live.opens();
    const order = submitOrder(MIA, auctionId, TERMS);
    const { pool } = world.database;
    // A transaction holds the maker's rows for longer than a shard waits.
    const client = await pool.connect();
    await client.query('begin');
    await client.query('select 1 from risk.reserved where account_id = $1 for update', [MIA]);
    const refused = await live.ask(order);
    await client.query('rollback');
    client.release();
    expect(refused).toMatchObject({ status: 503, body: { error: 'auction_owner_unavailable' } });
    expect(live.shard.book.find(auctionId)?.durable?.books).toEqual([]);
    expect(await live.ask(order)).toMatchObject({ status: 201 });
    await live.ask(cancelOrder(OLGA, auctionId));
    await free();
  });
});
