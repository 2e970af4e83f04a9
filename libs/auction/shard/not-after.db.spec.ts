import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PoolClient } from 'pg';
import type { OwnerRequest } from '../protocol/protocol.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import { cancelOrder, submitOrder, withdrawAllOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const OLGA = accountOf('olga');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const EXPIRED = { status: 422, body: { error: 'COMMAND_EXPIRED' } };
const MINUTE = 60_000;

let world: ShardWorld;
let live: LiveShard;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  live = await LiveShard.open(world);
});
afterEach(() => live.stop());

type Command = Extract<
  OwnerRequest,
  { op: 'create' | 'cancel' | 'submit' | 'revise' | 'withdraw' | 'withdraw_all' }
>;

function until(command: Command, millis: number): Command {
  return { ...command, not_after: world.in(millis) };
}

async function quote(auctionId: string): Promise<{ auction_id: string; quote_id: string }> {
  const { body } = await live.ask(submitOrder(MIA, auctionId, TERMS));
  return { auction_id: auctionId, quote_id: String(body.quote_id) };
}

/** Events with the command's key. Auctions of earlier tests may still be closing at the same time. */
async function recordsOf({ key }: Command): Promise<number> {
  const { rows } = await world.database.pool.query<{ count: number }>(
    `select count(*)::int from journal.records where payload::json -> 'command' ->> 'key' = $1`,
    [key],
  );
  return rows[0]?.count ?? 0;
}

async function waitingForLocks(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_locks where not granted and relation = 'risk.reserved'::regclass`,
  );
  return rows[0]?.waiting ?? 0;
}

const COMMANDS: [string, () => Promise<Command>][] = [
  ['create', () => Promise.resolve(live.createOrder())],
  ['submit', async () => submitOrder(MIA, await live.opens(), TERMS)],
  ['withdraw_all', () => Promise.resolve(withdrawAllOrder(MIA))],
  ['cancel', async () => cancelOrder(OLGA, await live.opens())],
];

describe.each(COMMANDS)('a %s after its not_after', (_op, make) => {
  it('is refused with COMMAND_EXPIRED, is not journaled, and may be repeated', async () => {
    const command = await make();
    expect(await live.ask(until(command, -1))).toMatchObject(EXPIRED);
    expect(await live.ask(until(command, -1))).toMatchObject(EXPIRED);
    expect(await recordsOf(command)).toBe(0);
    expect((await live.ask(until(command, MINUTE))).status).toBeLessThan(300);
    expect(await recordsOf(command)).toBe(1);
  });

  it('gets its first reply if the first call was in time', async () => {
    const command = until(await make(), MINUTE);
    const first = await live.ask(command);
    expect(first.status).toBeLessThan(300);
    const again = { status: 200, text: first.text };
    await live.leap(2 * MINUTE);
    expect(await live.ask(command)).toMatchObject(again);
    await live.stop();
    live = await LiveShard.open(world);
    expect(await live.ask(command)).toMatchObject(again);
  });
});

it('a command exactly at its not_after is in time', async () => {
  const auctionId = await live.opens();
  world.clock.stopAtEpoch(world.clock.epochNanos() + 1_000_000n);
  const order = submitOrder(MIA, auctionId, TERMS);
  expect(await live.ask({ ...order, not_after: world.now() })).toMatchObject({ status: 201 });
  world.clock.goOn();
});

it('nothing stays reserved for a quote whose not_after passes during its reservation', async () => {
  const auctionId = await live.opens('otto', { audience: { market_maker_ids: [accountOf('may')] } });
  const client = await world.database.pool.connect();
  await client.query('begin');
  await client.query('lock table risk.reserved in exclusive mode');
  const answer = live.ask(until(submitOrder(accountOf('may'), auctionId, TERMS), 500));
  await eventually(async () => expect(await waitingForLocks(client)).toBeGreaterThan(0));
  await live.leap(1_000);
  await client.query('rollback');
  client.release();
  expect(await answer).toMatchObject(EXPIRED);
  await eventually(async () => expect(await world.reservedOf('may')).toEqual([]));
});

describe('a call to withdraw everything', () => {
  it('is judged in time or late by the shard that meters it, and the others carry it out', async () => {
    const auctionId = await live.opens();
    const { quote_id: mine } = await quote(auctionId);
    const metered = until(withdrawAllOrder(MIA), -1);
    expect(await live.ask(metered)).toMatchObject(EXPIRED);
    const rest = { ...metered, metered: false } as Command;
    const done: ShardAnswer = await live.ask(rest);
    expect(done).toMatchObject({ status: 200, body: { withdrawn: expect.arrayContaining([mine]) } });
  });
});

it('a command after its not_after and after the end of its auction is refused with COMMAND_EXPIRED', async () => {
  const auctionId = await live.opens();
  const order = submitOrder(MIA, auctionId, TERMS);
  expect((await live.ask(cancelOrder(OLGA, auctionId))).status).toBe(200);
  const late = { ...order, not_after: world.in(-1) };
  expect(await live.ask(late)).toMatchObject(EXPIRED);
  await world.project();
  await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
  expect(await live.ask(late)).toMatchObject(EXPIRED);
  expect(await live.ask(order)).toMatchObject({ status: 422, body: { error: 'AUCTION_NOT_OPEN' } });
});
