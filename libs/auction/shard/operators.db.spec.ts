import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DomainEvent } from '../rules/events.js';
import { decodeEvent } from '../rules/event-versions.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard, rainAuction, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import { cancelOrder, submitOrder } from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const OLGA = accountOf('olga');
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const NOT_OPEN = { status: 422, body: { error: 'AUCTION_NOT_OPEN' } };
const NEVER = '00000000-0000-8000-8000-000000000000';

let world: ShardWorld;
let live: LiveShard;
let from: number;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  live = await LiveShard.open(world);
  from = live.writer.head.sequence + 1;
});
afterEach(() => live.stop());

async function journaled(...types: DomainEvent['type'][]): Promise<DomainEvent[]> {
  const records = await new PostgresJournalReader(world.database.pool, 'auction').read(0, from, 100_000);
  const events = records.flatMap(({ kind, payload }) => (kind === 'event' ? [decodeEvent(payload)] : []));
  return events.filter(({ type }) => types.includes(type));
}

async function restarted(): Promise<void> {
  await live.stop();
  live = await LiveShard.open(world);
}

function voids(auctionId: string, reason?: string): Promise<ShardAnswer> {
  const why = reason === undefined ? {} : { reason };
  return live.ask({ op: 'void', auction_id: auctionId, operator: 'opal', request_id: 'r1', ...why });
}

describe('an operator voids an auction', () => {
  it('and all reservations are released; a repeat is answered as done, also after restart and eviction', async () => {
    const auctionId = await live.opens();
    expect((await live.ask(submitOrder(MIA, auctionId, TERMS))).status).toBe(201);
    const done = { status: 200, body: { auction_id: auctionId, status: 'VOIDED' } };
    expect(await voids(auctionId, 'in dispute')).toMatchObject(done);
    expect(await world.reservedOf('mia')).toEqual([]);
    expect(await voids(auctionId, 'in dispute')).toMatchObject(done);
    await restarted();
    expect(await voids(auctionId, 'again')).toMatchObject(done);
    await world.project();
    await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
    expect(await voids(auctionId, 'again')).toMatchObject(done);

    expect(await journaled('AUCTION_VOIDED')).toMatchObject([
      { data: { by: 'OPERATOR', reason: 'in dispute', operator: 'opal' }, request_id: 'r1' },
    ]);
  });

  it('but not one that has ended, whether in memory or evicted', async () => {
    const cancelled = await live.opens();
    await live.ask(cancelOrder(OLGA, cancelled));
    expect(await voids(cancelled, 'too late')).toMatchObject(NOT_OPEN);
    await world.project();
    await eventually(() => expect(live.shard.book.find(cancelled)).toBeUndefined());
    expect(await voids(cancelled, 'too late')).toMatchObject(NOT_OPEN);
    const closed = await live.opens();
    await live.leap(60_000);
    expect(await voids(closed, 'too late')).toMatchObject(NOT_OPEN);
    expect(await journaled('AUCTION_VOIDED')).toEqual([]);
  });

  it('an unknown auction is answered with 404', async () => {
    expect(await voids(NEVER, 'whatever')).toMatchObject({
      status: 404,
      body: { error: 'auction_not_found' },
    });
  });

  it('an order without a reason is refused with 400', async () => {
    const auctionId = await live.opens();
    expect(await voids(auctionId)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(live.shard.book.find(auctionId)?.durable?.status).toBe('OPEN');
  });
});

function shifts(op: 'drain' | 'resume', reason?: string): Promise<ShardAnswer> {
  return live.ask({ op, operator: 'opal', request_id: 'r2', ...(reason === undefined ? {} : { reason }) });
}

describe('an operator drains a shard', () => {
  const refused = { status: 503, body: { error: 'auction_owner_unavailable' } };

  it('and it refuses creates but handles everything else, until it is resumed', async () => {
    const auctionId = await live.opens();
    expect(await shifts('drain', 'a new disk')).toMatchObject({
      status: 200,
      body: { shard: 0, state: 'DRAINING' },
    });
    expect(live.shard.conditions.draining).toBe(true);
    expect(await live.ask(live.createOrder())).toMatchObject(refused);
    const preflight = {
      op: 'originator_preflight',
      account: OLGA,
      request_id: 'r',
      body: rainAuction(),
    } as const;
    expect((await live.ask(preflight)).status).toBe(500);
    expect((await live.ask(submitOrder(MIA, auctionId, TERMS))).status).toBe(201);
    expect((await live.ask(cancelOrder(OLGA, auctionId))).status).toBe(200);

    expect((await shifts('drain')).body.state).toBe('DRAINING');
    expect((await shifts('resume')).body).toMatchObject({ shard: 0, state: 'ACTIVE' });
    expect((await shifts('resume')).body.state).toBe('ACTIVE');
    await live.opens();
    expect(await journaled('SHARD_DRAINED', 'SHARD_RESUMED')).toMatchObject([
      { type: 'SHARD_DRAINED', data: { operator: 'opal', reason: 'a new disk' }, request_id: 'r2' },
      { type: 'SHARD_RESUMED', data: { operator: 'opal' } },
    ]);
  });

  it('and simultaneous orders are journaled once', async () => {
    await Promise.all([shifts('drain'), shifts('drain'), shifts('drain')]);
    expect(await journaled('SHARD_DRAINED')).toHaveLength(1);
  });

  it('and the drain ends with the process', async () => {
    await shifts('drain');
    await restarted();
    expect((await live.ask({ op: 'shard_status' })).body.state).toBe('ACTIVE');
    await live.opens();
  });

  it('a reason that is not printable is refused with 400', async () => {
    expect(await shifts('drain', '\u0007')).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect(live.shard.conditions.draining).toBe(false);
  });

  it('a process that is stopping refuses drain and resume', async () => {
    live.shard.conditions.leave();
    expect(await shifts('resume')).toMatchObject(refused);
    expect(await shifts('drain')).toMatchObject(refused);
    expect(await live.ask(live.createOrder())).toMatchObject(refused);
    expect(await journaled('SHARD_DRAINED', 'SHARD_RESUMED')).toEqual([]);
  });
});

it('a shard reports how many events it read at its start', async () => {
  await live.opens();
  await restarted();
  const { body } = await live.ask({ op: 'shard_status' });
  const { events, ms } = body.recovery as { events: number; ms: number };
  expect(events).toBeGreaterThan(0);
  expect(Number.isSafeInteger(ms)).toBe(true);
});
