import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AuctionEvent } from '../rules/events.js';
import {
  instantFromNanos,
  millisBetween,
  nanosFromInstant,
  plusMillis,
  type Instant,
} from '#libs/base/instant.js';
import { decodeEvent } from '../rules/event-versions.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { PostgresSettlement } from '../settlement/postgres-settlement.js';
import type { AwardToSettle } from '../settlement/settlement.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard } from '#libs/testing/shards/shard-fixture.js';
import { cancelOrder, submitOrder, withdrawOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

/** Moe is used only in tests of reservations. */
const [OLGA, MIA, MAX, MOE] = ['olga', 'mia', 'max', 'moe'].map(accountOf) as [
  string,
  string,
  string,
  string,
];
const TERMS = { price_atoms: 500_000, quantity_atoms: 4_000_000 };
const HOUR = 3_600_000;

let world: ShardWorld;
let live: LiveShard;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  world.clock.goOn();
  world.clock.letTimersRun();
  world.clock.setWall(0);
  live = await LiveShard.open(world);
});
afterEach(() => live.stop());

function stateOf(auctionId: string) {
  const state = live.shard.book.find(auctionId)?.durable;
  if (state === undefined) throw new Error(`auction ${auctionId} is not in memory`);
  return state;
}

function closesAt(auctionId: string): Instant {
  return stateOf(auctionId).terms.closes_at;
}

async function journalOf(auctionId: string): Promise<AuctionEvent[]> {
  const reader = new PostgresJournalReader(world.database.pool, 'auction');
  const records = await reader.read(0, 1, 100_000);
  return records
    .filter(({ kind }) => kind === 'event')
    .map(({ payload }) => decodeEvent(payload))
    .filter((event): event is AuctionEvent => 'auction_id' in event && event.auction_id === auctionId);
}

async function typesOf(auctionId: string): Promise<[Instant, string][]> {
  return (await journalOf(auctionId)).map(({ at, type }) => [at, type]);
}

function until(auctionId: string, ...statuses: string[]): Promise<void> {
  return eventually(() => expect(statuses).toContain(stateOf(auctionId).status));
}

async function quotes(auctionId: string, different: object = {}, account = MIA) {
  const { status, body, text } = await live.ask(submitOrder(account, auctionId, { ...TERMS, ...different }));
  if (status !== 201) throw new Error(`the quote was refused: ${text}`);
  return { auction_id: auctionId, quote_id: String(body.quote_id) };
}

/** Stops the clock at this moment, before any timer has noticed. The policy was read just before. */
async function stopsAt(moment: Instant): Promise<void> {
  await live.leap(millisBetween(world.now(), moment) - 1_000);
  world.clock.holdTimers();
  world.clock.stopAtEpoch(nanosFromInstant(moment));
}

describe('the close', () => {
  it('is at closes_at, however late its timer runs', async () => {
    const auctionId = await live.opens();
    await quotes(auctionId);
    const closing = closesAt(auctionId);
    await live.leap(75_000);
    await until(auctionId, 'AWARDED');
    expect(await typesOf(auctionId)).toEqual([
      [expect.any(String), 'AUCTION_OPENED'],
      [expect.any(String), 'QUOTE_SUBMITTED'],
      [closing, 'AUCTION_CLOSED'],
      [closing, 'AUCTION_AWARDED'],
    ]);
    expect(stateOf(auctionId).execution_deadline).toBe(plusMillis(closing, 60_000));
  });

  it('accepts a quote in the last nanosecond', async () => {
    const auctionId = await live.opens();
    world.clock.stopAtEpoch(nanosFromInstant(closesAt(auctionId)) - 1n);
    await live.settled();
    expect(await live.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject({
      status: 201,
      body: { submitted_at: instantFromNanos(nanosFromInstant(closesAt(auctionId)) - 1n) },
    });
    world.clock.goOn();
    await until(auctionId, 'AWARDED');
    expect(stateOf(auctionId).awards).toHaveLength(1);
  });

  it('refuses every command at exactly closes_at, even if no timer has run', async () => {
    const auctionId = await live.opens();
    const standing = await quotes(auctionId);
    await stopsAt(closesAt(auctionId));
    const orders = [
      submitOrder(MAX, auctionId, TERMS),
      withdrawOrder(MIA, standing),
      cancelOrder(OLGA, auctionId),
    ];
    const asked = orders.map((order) => live.ask(order));
    await until(auctionId, 'CLOSED');
    world.clock.letTimersRun();
    await until(auctionId, 'AWARDED');
    const refused = { status: 422, body: { error: 'AUCTION_NOT_OPEN' } };
    for (const answer of await Promise.all(asked)) expect(answer).toMatchObject(refused);
    // A refusal after the auction is over for a maker is not journaled, and events after the close are in order.
    const events = await journalOf(auctionId);
    const after = events.slice(events.findIndex(({ type }) => type === 'AUCTION_CLOSED'));
    expect(after.map(({ at }) => at)).toEqual([...after.map(({ at }) => at)].sort());
    expect(stateOf(auctionId).awards.map(({ maker }) => maker)).toEqual([MIA]);
  });
});

describe('an expiry', () => {
  it('happens at expires_at, ends the quote, and its maker may quote again', async () => {
    const auctionId = await live.opens();
    const expiresAt = world.in(5_000);
    await quotes(auctionId, { expires_at: expiresAt }, MOE);
    await live.leap(6_000);
    await eventually(() => expect(stateOf(auctionId).books[0]?.quotes[0]?.status).toBe('EXPIRED'));
    expect((await typesOf(auctionId)).at(-1)).toEqual([expiresAt, 'QUOTE_EXPIRED']);
    await eventually(async () => expect(await world.reservedOf('moe')).toEqual([]));
    await quotes(auctionId, { price_atoms: 480_000 }, MOE);
    await live.ask(cancelOrder(OLGA, auctionId));
  });

  it('applies before its timer has run', async () => {
    const auctionId = await live.opens();
    const expiresAt = world.in(5_000);
    await quotes(auctionId, { expires_at: expiresAt });
    await stopsAt(expiresAt);
    const second = quotes(auctionId, { price_atoms: 480_000 });
    await eventually(() => expect(stateOf(auctionId).books[0]?.quotes).toHaveLength(2));
    world.clock.letTimersRun();
    await second;
    expect((await typesOf(auctionId)).map(([, type]) => type)).toEqual([
      'AUCTION_OPENED',
      'QUOTE_SUBMITTED',
      'QUOTE_EXPIRED',
      'QUOTE_SUBMITTED',
    ]);
    await live.ask(cancelOrder(OLGA, auctionId));
  });
});

describe('the execution deadline', () => {
  async function awarded(): Promise<{ auctionId: string; award: AwardToSettle }> {
    const auctionId = await live.opens();
    await quotes(auctionId);
    await live.leap(60_000);
    await until(auctionId, 'AWARDED');
    const pending = await live.ask({ op: 'pending_awards', known: [], wait_ms: 0 });
    const awards = JSON.parse(pending.text) as AwardToSettle[];
    const award = awards.find((one) => one.auction_id === auctionId);
    if (award === undefined) throw new Error('the award is not among the pending ones');
    return { auctionId, award };
  }

  it('fails an award that was not settled, and it can no longer be settled', async () => {
    const { auctionId, award } = await awarded();
    await live.leap(60_000);
    await until(auctionId, 'EXECUTION_FAILED');
    const desk = new PostgresSettlement(world.database.pool, world.clock, () => 0);
    expect(await desk.settle(award)).toMatchObject({
      outcome: 'FAILED',
      reason: 'EXECUTION_DEADLINE_PASSED',
    });
    const failed = (await journalOf(auctionId)).find(({ type }) => type === 'EXECUTION_FAILED');
    expect(failed?.data).toMatchObject({ reason: 'EXECUTION_DEADLINE_PASSED' });
    await eventually(async () => expect(await world.reservedOf('mia')).toEqual([]));
  });

  it('confirms an award that was settled but not reported, with the route in the ledger', async () => {
    const { auctionId, award } = await awarded();
    const desk = new PostgresSettlement(world.database.pool, world.clock, () => 0);
    const settled = await desk.settle(award);
    await live.leap(60_000);
    await until(auctionId, 'SETTLED');
    const confirmed = (await journalOf(auctionId)).find(({ type }) => type === 'EXECUTION_CONFIRMED');
    const { venue, contract_id: contract, outcome } = award.routes[0]!;
    const settlement = { venue, asset: `${contract}/${outcome}`, delivered_atoms: 0 };
    expect(settled).toMatchObject({ outcome: 'SETTLED', settlement });
    expect(confirmed?.data).toMatchObject({ settlement });
    await eventually(async () => expect(await world.reservedOf('mia')).toEqual([]));
  });

  it('gives exactly one outcome if a settlement comes at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { auctionId, award } = await awarded();
      const desk = new PostgresSettlement(world.database.pool, world.clock, () => 0);
      world.clock.leap(60_000);
      const { outcome } = await desk.settle(award);
      await until(auctionId, 'SETTLED', 'EXECUTION_FAILED');
      expect(stateOf(auctionId).status).toBe(outcome === 'SETTLED' ? 'SETTLED' : 'EXECUTION_FAILED');
      await live.settled();
    }
  });
});

describe('a clock that was set forward by an hour', () => {
  it('refuses creates and quotes, closes nothing, and still accepts withdrawals and cancels', async () => {
    const [auctionId, other] = [await live.opens(), await live.opens('otto')];
    const standing = await quotes(auctionId);
    world.clock.setWall(HOUR);
    const unhealthy = { status: 503, body: { error: 'clock_unhealthy' } };
    expect(await live.ask(live.createOrder())).toMatchObject(unhealthy);
    expect(await live.ask(submitOrder(MAX, auctionId, TERMS))).toMatchObject(unhealthy);
    await live.leap(2_000);
    expect(stateOf(auctionId).status).toBe('OPEN');
    expect(await live.ask(withdrawOrder(MIA, standing))).toMatchObject({ status: 200 });
    expect(await live.ask(cancelOrder(accountOf('otto'), other))).toMatchObject({ status: 200 });
    expect(stateOf(auctionId).status).toBe('OPEN');

    world.clock.setWall(0);
    await live.leap(2_000);
    await eventually(async () =>
      expect(await live.ask(submitOrder(MAX, auctionId, TERMS))).toMatchObject({ status: 201 }),
    );
    const times = (await typesOf(auctionId)).map(([at]) => at);
    expect(times).toEqual([...times].sort());
    // No event has a time of the wrong clock.
    expect(times.filter((at) => at > world.in(60_000) || at < world.in(-60_000))).toEqual([]);
  });
});

it('refuses a quote if the clock became unsound during its reservation, and releases the reservation', async () => {
  const auctionId = await live.opens();
  const client = await world.database.pool.connect();
  await client.query('begin');
  await client.query('select 1 from risk.reserved where account_id = $1 for update', [MOE]);
  const asked = live.ask(submitOrder(MOE, auctionId, TERMS));
  await new Promise((resolve) => setTimeout(resolve, 100));
  world.clock.setWall(HOUR);
  await client.query('rollback');
  client.release();
  expect(await asked).toMatchObject({ status: 503, body: { error: 'clock_unhealthy' } });
  await eventually(async () => expect(await world.reservedOf('moe')).toEqual([]));
  world.clock.setWall(0);
});

it('journals no refusal between closes_at and a delayed close', async () => {
  const auctionId = await live.opens();
  const standing = await quotes(auctionId);
  world.clock.setWall(HOUR);
  await live.leap(61_000);
  const refused = { status: 422, body: { error: 'AUCTION_NOT_OPEN' } };
  expect(await live.ask(withdrawOrder(MIA, standing))).toMatchObject(refused);
  expect(await live.ask(cancelOrder(OLGA, auctionId))).toMatchObject(refused);
  world.clock.setWall(0);
  await live.leap(2_000);
  await until(auctionId, 'AWARDED');
  const types = await typesOf(auctionId);
  expect(types.map(([, type]) => type)).toEqual([
    'AUCTION_OPENED',
    'QUOTE_SUBMITTED',
    'AUCTION_CLOSED',
    'AUCTION_AWARDED',
  ]);
});

describe('a reference clock that agrees with a clock that was set', () => {
  let reference: bigint;

  /** On separate shards, because their journals may end up in the future of the others. */
  async function reopened(shard: number): Promise<void> {
    await live.stop();
    reference = 0n;
    const ports = { referenceNanos: () => Promise.resolve(world.clock.trueEpochNanos() + reference) };
    live = await LiveShard.open(world, shard, { ports });
  }

  it('makes it sound again, and what is due is done', async () => {
    await reopened(1);
    const auctionId = await live.opens();
    world.clock.setWall(HOUR);
    reference = BigInt(HOUR) * 1_000_000n;
    await live.leap(2_000);
    await until(auctionId, 'NO_AWARD');
    expect(await live.ask(live.createOrder())).toMatchObject({ status: 201 });
  });

  it('does not make it sound if the journal has a later time', async () => {
    await reopened(2);
    const auctionId = await live.opens();
    world.clock.setWall(-HOUR);
    reference = BigInt(-HOUR) * 1_000_000n;
    await live.leap(2_000);
    expect(await live.ask(live.createOrder())).toMatchObject({
      status: 503,
      body: { error: 'clock_unhealthy' },
    });
    expect(stateOf(auctionId).status).toBe('OPEN');
  });
});

describe('a clock jump between the due time of a close and its decision', () => {
  it('only delays the close', async () => {
    const auctionId = await live.opens();
    const closing = closesAt(auctionId);
    // The loop is busy, so the close must wait for its turn.
    live.writer.hold();
    const busy = [live.ask(live.createOrder()), live.ask(live.createOrder('otto'))];
    await eventually(() => expect(live.writer.inFlight).toBe(1));
    world.clock.leap(60_000);
    world.clock.setWall(HOUR);
    live.writer.letGo();
    await Promise.all(busy);
    await live.leap(1_500);
    expect(stateOf(auctionId).status).toBe('OPEN');
    world.clock.setWall(0);
    await live.leap(1_500);
    await until(auctionId, 'NO_AWARD');
    expect(stateOf(auctionId).closed_at).toBe(closing);
  });
});

it('an event is never dated before one that is already journaled', async () => {
  const auctionId = await live.opens();
  const standing = await quotes(auctionId);
  live.writer.hold();
  const first = live.ask(submitOrder(MAX, auctionId, TERMS));
  await eventually(() => expect(live.writer.inFlight).toBe(1));
  // Less than what counts as a jump: the clock is still trusted.
  world.clock.setWall(-400);
  const second = live.ask(withdrawOrder(MIA, standing));
  await eventually(() =>
    expect(live.shard.book.find(auctionId)?.head.books[0]?.quotes[0]?.status).toBe('WITHDRAWN'),
  );
  live.writer.letGo();
  await Promise.all([first, second]);
  const times = (await typesOf(auctionId)).map(([at]) => at);
  expect(times).toEqual([...times].sort());
  world.clock.setWall(0);
});

it('nor is it if the clock of the new owner is slower than that of the former one', async () => {
  const auctionId = await live.opens();
  const standing = await quotes(auctionId);
  await live.stop();
  world.clock.setWall(-400);
  live = await LiveShard.open(world);
  expect(await live.ask(withdrawOrder(MIA, standing))).toMatchObject({ status: 200 });
  const times = (await typesOf(auctionId)).map(([at]) => at);
  expect(times).toHaveLength(3);
  expect(times).toEqual([...times].sort());
  world.clock.setWall(0);
});
