import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { LiveShard } from '#libs/testing/shards/shard-fixture.js';
import { reviseOrder, submitOrder, withdrawOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const EXCEEDED = { status: 422, body: { error: 'SERVICE_CAPACITY_EXCEEDED' } };

let world: ShardWorld;
let live: LiveShard;

beforeAll(async () => {
  world = await ShardWorld.open();
  live = await LiveShard.open(world, 0, { settings: { commandsPerMakerLimit: 3, limitsFactor: 1 } });
});
afterAll(async () => {
  await live.stop();
  await world.close();
});

it('a maker at its command limit in an auction keeps its quote and may withdraw it, and further commands are refused unrecorded', async () => {
  const auctionId = await live.opens();
  const { body } = await live.ask(submitOrder(MIA, auctionId, TERMS));
  const quote = { auction_id: auctionId, quote_id: String(body.quote_id) };
  const revise = (revision: number) =>
    reviseOrder(MIA, quote, { expected_revision: revision, price_atoms: 490_000 });
  for (const revision of [1, 2]) expect(await live.ask(revise(revision))).toMatchObject({ status: 200 });

  const head = live.writer.head.sequence;
  for (let call = 0; call < 5; call += 1) expect(await live.ask(revise(3))).toMatchObject(EXCEEDED);
  expect(await live.ask(submitOrder(MIA, auctionId, TERMS))).toMatchObject(EXCEEDED);
  expect(live.writer.head.sequence).toBe(head);
  expect(live.shard.book.find(auctionId)?.durable?.books[0]?.quotes[0]).toMatchObject({
    revision: 3,
    status: 'ACTIVE',
  });

  expect(await live.ask(submitOrder(accountOf('max'), auctionId, TERMS))).toMatchObject({ status: 201 });
  expect(await live.ask(withdrawOrder(MIA, quote))).toMatchObject({
    status: 200,
    body: { status: 'WITHDRAWN' },
  });
});
