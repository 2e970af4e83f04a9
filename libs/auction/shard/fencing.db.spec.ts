import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Instant, instantFromNanos } from '#libs/base/instant.js';
import type { OwnerRequest } from '../protocol/protocol.js';
import { eventually } from '#libs/testing/eventually.js';
import { expectedHolds } from '#libs/testing/auctions/holds.js';
import { LiveShard, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import {
  cancelOrder,
  type QuoteName,
  submitOrder,
  withdrawOrder,
} from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Machines that do other things at the same time take their time. */
jest.setTimeout(30_000);

const [OLGA, MIA, MAX] = ['olga', 'mia', 'max'].map(accountOf) as [string, string, string];
const UNAVAILABLE = { status: 503, body: { error: 'auction_owner_unavailable' } };
const TERMS = { price_atoms: 500_000, quantity_atoms: 4_000_000 };

let world: ShardWorld;
let older: LiveShard;
let younger: LiveShard;
let auctionId: string;
let quote: QuoteName;

beforeAll(async () => {
  world = await ShardWorld.open();
});
beforeEach(async () => {
  older = await LiveShard.open(world);
  auctionId = await older.opens();
  const { body } = await older.ask(submitOrder(MIA, auctionId, TERMS));
  quote = { auction_id: auctionId, quote_id: String(body.quote_id) };
  younger = await LiveShard.open(world);
});
afterAll(() => world.close());

/** Two that take themselves for the owner of one shard: an old one that was only slow, and the one that took over. */
describe('the older of two owners', () => {
  it.each([
    ['withdraws', () => withdrawOrder(MIA, quote)],
    ['quotes', () => submitOrder(MAX, auctionId, TERMS)],
    ['is refused', () => submitOrder(MAX, auctionId, { ...TERMS, price_atoms: 1 })],
  ])('answers nobody and changes nothing when somebody %s', async (_what, order) => {
    const held = await world.reservedBy(0);
    const before = await journalLength();
    let heard: ShardAnswer | undefined;
    void older.ask(order()).then((answer) => {
      heard = answer;
    });
    await eventually(() => expect(older.failures).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toBeUndefined();
    expect(await journalLength()).toBe(before);
    expect(await world.reservedBy(0)).toEqual(held);
    expect(older.failures).toHaveLength(1);
    older.kill();
    await younger.stop();
  });

  it('answers those who come later only that it cannot be asked', async () => {
    void older.ask(withdrawOrder(MIA, quote));
    await eventually(() => expect(older.failures).toHaveLength(1));
    expect(await older.ask(cancelOrder(OLGA, auctionId))).toMatchObject(UNAVAILABLE);
    expect(await older.ask({ op: 'shard_status' })).toMatchObject({ status: 503 });
    older.kill();
    await younger.stop();
  });

  describe('while it takes the shard for its own', () => {
    let opened: string;
    let expired: ReturnType<typeof submitOrder>;

    beforeEach(async () => {
      opened = await younger.opens();
      expired = { ...submitOrder(MAX, auctionId, TERMS), not_after: instantIn(300) };
      await younger.ask(expired);
      await younger.ask(withdrawOrder(MIA, quote));
      // An owner that runs on and was replaced a moment ago.
      await passed(400);
    });

    it.each([
      ['quotes in an auction', () => submitOrder(MAX, opened, TERMS)],
      ['reports on an award', () => reported(opened)],
    ])('tells nobody 404 who %s of its successor’s', async (_what, order: () => OwnerRequest) => {
      expect(await older.ask(order())).toMatchObject(UNAVAILABLE);
    });

    it('tells nobody that a command came too late which its successor has taken in time', async () => {
      expect(await older.ask(expired)).toMatchObject(UNAVAILABLE);
      expect(await younger.ask(expired)).toMatchObject({ status: 200 });
    });

    it('tells nobody that a quote stands which its successor has withdrawn', async () => {
      expect(await older.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject(UNAVAILABLE);
      expect(await younger.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject({ status: 201 });
    });

    it('may still tell what could be read a moment ago', async () => {
      const read = { op: 'auction', account: OLGA, auction_id: auctionId, request_id: 'r' } as const;
      expect(await older.ask(read)).toMatchObject({ status: 200 });
    });

    afterEach(async () => {
      older.kill();
      await younger.stop();
    });
  });

  it('that stood still tells nobody what it remembers', async () => {
    const opened = await younger.opens();
    const read = (id: string) => ({ op: 'auction', account: OLGA, auction_id: id, request_id: 'r' }) as const;
    world.clock.leap(1_000);
    for (const id of [opened, auctionId]) {
      expect(await older.ask(read(id))).toMatchObject({ status: 503 });
      expect(await younger.ask(read(id))).toMatchObject({ status: 200 });
    }
    expect(older.writer.health()).toMatchObject({ ok: false });
    older.kill();
    await younger.stop();
  });

  it('closes nothing, and sets nothing free, while the younger one goes on undisturbed', async () => {
    world.clock.leap(60_001);
    await younger.settled();
    await eventually(() => expect(older.failures).toHaveLength(1));
    await eventually(() => expect(younger.shard.book.find(auctionId)?.durable?.status).toBe('AWARDED'));
    expect(older.shard.book.find(auctionId)?.durable?.status).toBe('OPEN');
    expect(younger.failures).toEqual([]);
    const states = [...younger.shard.book.all()].map(({ durable }) => durable!);
    await eventually(async () => expect(await world.reservedBy(0)).toEqual(expectedHolds(states)));
    older.kill();
    await younger.stop();
  });

  function reported(id: string): OwnerRequest {
    return { op: 'execution_report', auction_id: id, award_id: id, step: 'SUBMITTED', attempt: 1 };
  }

  function instantIn(millis: number): Instant {
    return instantFromNanos(world.clock.epochNanos() + BigInt(millis) * 1_000_000n);
  }

  /** Time as it goes by for those who run: a leap would be a standstill. */
  function passed(millis: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, millis));
  }

  async function journalLength(): Promise<number> {
    const { rows } = await world.database.pool.query<{ n: number }>(
      'select count(*) as n from journal.records',
    );
    return rows[0]?.n ?? 0;
  }
});
