import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Pool } from 'pg';
import { PolicyWatch } from '../admission/policy/policy-watch.js';
import { openPool } from '#libs/platform/database/postgres.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard, rainAuction } from '#libs/testing/shards/shard-fixture.js';
import { submitOrder, withdrawOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const MAX = accountOf('max');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const UNAVAILABLE = { status: 503, body: { error: 'auction_owner_unavailable' } };
/** Longer than a policy copy is valid, shorter than an auction. */
const STANDSTILL = 10_000;

let world: ShardWorld;
let live: LiveShard;

beforeEach(async () => {
  world = await ShardWorld.open();
});
afterEach(async () => {
  await live.stop();
  await world.close();
});

/** A shard whose policy store can be taken away. */
async function withPolicyOf(pool: Pool): Promise<void> {
  const policy = new PolicyWatch(pool, world.clock);
  await policy.start();
  live = await LiveShard.open(world, 0, { ports: { policy } });
}

it('after a standstill the policy is read again before any command is judged by it', async () => {
  live = await LiveShard.open(world);
  const auctionId = await live.opens();
  world.clock.leap(STANDSTILL);
  expect(live.policyVersion).toBeUndefined();
  expect(await live.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject({ status: 201 });
  world.clock.leap(STANDSTILL);
  expect(await live.ask(live.createOrder())).toMatchObject({ status: 201 });
  world.clock.leap(STANDSTILL);
  const preflight = { op: 'originator_preflight', account: accountOf('olga'), request_id: 'r' } as const;
  expect(await live.ask({ ...preflight, body: rainAuction() })).toMatchObject({ status: 200 });
});

it('if the policy cannot be read, no command is refused for good', async () => {
  const pool = openPool(world.database.url, { applicationName: 'policy', max: 1 });
  await withPolicyOf(pool);
  const auctionId = await live.opens('olga', { duration_ms: 600_000 });
  const { body } = await live.ask(submitOrder(MAX, auctionId, TERMS));
  await pool.end();
  world.clock.leap(STANDSTILL);
  const create = live.createOrder();
  const submit = submitOrder(MIA, auctionId, TERMS);
  const head = live.writer.head.sequence;
  for (const order of [create, submit]) expect(await live.ask(order)).toMatchObject(UNAVAILABLE);
  expect(live.writer.head.sequence).toBe(head);
  const preflight = { account: MIA, request_id: 'r', auction_id: auctionId, ...TERMS };
  expect(await live.ask({ op: 'quote_preflight', ...preflight })).toMatchObject(UNAVAILABLE);
  const originator = { account: accountOf('olga'), request_id: 'r', body: rainAuction() };
  expect((await live.ask({ op: 'originator_preflight', ...originator })).status).toBe(500);
  // A withdrawal needs no policy.
  const quote = { auction_id: auctionId, quote_id: String(body.quote_id) };
  expect(await live.ask(withdrawOrder(MAX, quote))).toMatchObject({ status: 200 });

  await live.stop();
  live = await LiveShard.open(world);
  for (const order of [create, submit]) expect(await live.ask(order)).toMatchObject({ status: 201 });
});

it('a command that waited in the queue during a standstill is not refused for good either', async () => {
  const pool = openPool(world.database.url, { applicationName: 'policy', max: 1 });
  await withPolicyOf(pool);
  const auctionId = await live.opens('olga', { duration_ms: 600_000 });
  // One append is in flight and the next is decided, so later commands have to wait.
  live.writer.hold();
  const before: Promise<unknown>[] = [];
  for (const name of ['max', 'moe']) {
    before.push(live.ask(submitOrder(accountOf(name), auctionId, TERMS)));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const answers = [live.ask(submitOrder(MIA, auctionId, TERMS)), live.ask(live.createOrder('otto'))];
  await eventually(() => expect(live.shard.queueDepth).toBe(2));
  await pool.end();
  world.clock.leap(STANDSTILL);
  live.writer.letGo();
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(UNAVAILABLE);
  await Promise.all(before);
});

it('a reservation that was made before the standstill was noticed is released', async () => {
  const pool = openPool(world.database.url, { applicationName: 'policy', max: 1 });
  await withPolicyOf(pool);
  const auctionId = await live.opens('olga', { duration_ms: 600_000 });
  await pool.end();
  const { desk } = live;
  const reserve = desk.reserve.bind(desk);
  desk.reserve = async (requests) => {
    const outcomes = await reserve(requests);
    expect(await world.reservedOf('mia')).not.toEqual([]);
    world.clock.leap(STANDSTILL);
    return outcomes;
  };
  expect(await live.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject(UNAVAILABLE);
  await eventually(async () => expect(await world.reservedOf('mia')).toEqual([]));
});

it('an owner that keeps writing does not check its leadership separately', async () => {
  live = await LiveShard.open(world);
  const auctionId = await live.opens('olga', { duration_ms: 600_000 });
  const confirm = jest.spyOn(live.writer, 'confirm');
  const read = { op: 'auction', account: accountOf('olga'), auction_id: auctionId, request_id: 'r' } as const;
  const runsFor = async (millis: number): Promise<void> => {
    for (let passed = 0; passed < millis; passed += 200) {
      world.clock.leap(200);
      await new Promise(setImmediate);
    }
  };
  await runsFor(3_000);
  await live.settled();
  expect(await live.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject({ status: 201 });
  await runsFor(3_000);
  expect(await live.ask(read)).toMatchObject({ status: 200 });
  expect(confirm).not.toHaveBeenCalled();
  await runsFor(3_000);
  expect(await live.ask(read)).toMatchObject({ status: 200 });
  expect(confirm).toHaveBeenCalledTimes(1);
});
