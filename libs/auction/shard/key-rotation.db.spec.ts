import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { LiveShard } from '#libs/testing/shards/shard-fixture.js';
import { submitOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';
import { IdFactory } from './ids.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const OLD = Buffer.alloc(32, 0x11);
const NEW = Buffer.alloc(32, 0x22);
const TERMS = { price_atoms: 500_000, quantity_atoms: 4_000_000 };

let world: ShardWorld;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());

function under(first: Buffer, ...former: Buffer[]): Promise<LiveShard> {
  return LiveShard.open(world, 0, { ports: { ids: new IdFactory(first, ...former) } });
}

it('after a key rotation a repeat finds its auction and quotes, and new auctions use the new key', async () => {
  let live = await under(OLD);
  const create = live.createOrder();
  const opened = await live.ask(create);
  const auctionId = String(opened.body.auction_id);
  const submit = submitOrder(accountOf('mia'), auctionId, TERMS);
  const quoted = await live.ask(submit);
  expect([opened.status, quoted.status]).toEqual([201, 201]);
  await live.stop();

  live = await under(NEW, OLD);
  expect(await live.ask(create)).toEqual({ ...opened, status: 200 });
  expect(await live.ask(submit)).toEqual({ ...quoted, status: 200 });
  const fresh = live.createOrder();
  expect((await live.ask(fresh)).body.auction_id).toBe(new IdFactory(NEW).auction(fresh.account, fresh.key));
  await live.stop();

  // What must not be done: without the former key, the same call is a different one.
  live = await under(NEW);
  expect((await live.ask(create)).body.auction_id).not.toBe(auctionId);
  await live.stop();
});
