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

/** Allows for a busy machine. */
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

/** Two processes believe that they own one shard: an old one that was only slow, and the one that took over. */
describe('the older of two owners', () => {
  it.each([
    ['withdraws', () => withdrawOrder(MIA, quote)],
    ['quotes', () => submitOrder(MAX, auctionId, TERMS)],
    ['is refused', () => submitOrder(MAX, auctionId, { ...TERMS, price_atoms: 1 })],
  ])('sends no reply and changes nothing when a maker %s', async (_what, order) => {
    const held = await world.reservedBy(0);
    const before = await journalLength();
    let received: ShardAnswer | undefined;
    void older.ask(order()).then((answer) => {
      received = answer;
    });
    await eventually(() => expect(older.failures).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(received).toBeUndefined();
    expect(await journalLength()).toBe(before);
    expect(await world.reservedBy(0)).toEqual(held);
    expect(older.failures).toHaveLength(1);
    older.kill();
    await younger.stop();
  });

  it('answers later commands with 503', async () => {
    void older.ask(withdrawOrder(MIA, quote));
    await eventually(() => expect(older.failures).toHaveLength(1));
    expect(await older.ask(cancelOrder(OLGA, auctionId))).toMatchObject(UNAVAILABLE);
    expect(await older.ask({ op: 'shard_status' })).toMatchObject({ status: 503 });
    older.kill();
    await younger.stop();
  });

  describe('while it still believes that it owns the shard', () => {
    let opened: string;
    let expired: ReturnType<typeof submitOrder>;

    beforeEach(async () => {
      opened = await younger.opens();
      expired = { ...submitOrder(MAX, auctionId, TERMS), not_after: instantIn(300) };
      await younger.ask(expired);
      await younger.ask(withdrawOrder(MIA, quote));
      // An owner that continues to run and was replaced a moment ago.
      await passed(400);
    });

    it.each([
      ['quotes in an auction', () => submitOrder(MAX, opened, TERMS)],
      ['reports on an award', () => reported(opened)],
    ])(
      'does not answer 404 to a caller who %s of the new owner',
      async (_what, order: () => OwnerRequest) => {
        expect(await older.ask(order())).toMatchObject(UNAVAILABLE);
      },
    );

    it('does not refuse as late a command that the new owner accepted in time', async () => {
      expect(await older.ask(expired)).toMatchObject(UNAVAILABLE);
      expect(await younger.ask(expired)).toMatchObject({ status: 200 });
    });

    it('does not report as active a quote that the new owner has withdrawn', async () => {
      expect(await older.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject(UNAVAILABLE);
      expect(await younger.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject({ status: 201 });
    });

    it('may still answer reads with what was valid a moment ago', async () => {
      const read = { op: 'auction', account: OLGA, auction_id: auctionId, request_id: 'r' } as const;
      expect(await older.ask(read)).toMatchObject({ status: 200 });
    });

    afterEach(async () => {
      older.kill();
      await younger.stop();
    });
  });

  it('answers no reads from memory after a standstill', async () => {
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

  it('closes nothing and releases nothing, while the younger one works undisturbed', async () => {
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

  /** Time as it passes for running processes. A leap would be a standstill. */
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
