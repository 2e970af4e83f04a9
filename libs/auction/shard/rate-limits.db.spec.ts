import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { homeShard } from '../protocol/routing.js';
import { eventually } from '#libs/testing/eventually.js';
import { LinkedShards } from '#libs/testing/shards/linked-shards.js';
import type { ShardAnswer, LiveShard } from '#libs/testing/shards/shard-fixture.js';
import {
  cancelOrder,
  reviseOrder,
  submitOrder,
  withdrawAllOrder,
  withdrawOrder,
  type QuoteName,
} from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const [OLGA, MIA] = ['olga', 'mia'].map(accountOf) as [string, string];
const TERMS = { price_atoms: 500_000, quantity_atoms: 1_000_000 };
const LIMITED = { status: 429, body: { error: 'auction_mutation_rate_limited' } };
const AS_IN_PRODUCTION = { settings: { limitsFactor: 1 } };

let world: ShardWorld;
let linked: LinkedShards;

beforeAll(async () => {
  world = await ShardWorld.open();
});
afterAll(() => world.close());
beforeEach(async () => {
  linked = await LinkedShards.open(world, AS_IN_PRODUCTION);
  // Buckets refill only when the test says so.
  world.clock.stopAtEpoch(world.clock.epochNanos());
});
afterEach(async () => {
  world.clock.goOn();
  await linked.close();
});

function creates(shard: LiveShard): Promise<ShardAnswer> {
  return shard.ask(shard.createOrder());
}

async function available(account: string, bucket: string): Promise<number> {
  const { body } = await linked.shard(homeShard(account)).ask({ op: 'limits', account, request_id: 'r' });
  return (body.available as Record<string, number>)[bucket] ?? NaN;
}

/** Advances the clock, which then stands still again. */
function passes(millis: number): void {
  world.clock.leap(millis);
}

async function opened(shard = 0): Promise<string> {
  const answer = await creates(linked.shard(shard));
  if (answer.status !== 201) throw new Error(`the auction was not opened: ${answer.text}`);
  return String(answer.body.auction_id);
}

async function quotes(auctionId: string, shard = 0): Promise<QuoteName> {
  const answer = await linked.shard(shard).ask(submitOrder(MIA, auctionId, TERMS));
  if (answer.status !== 201) throw new Error(`the quote was refused: ${answer.text}`);
  return { auction_id: auctionId, quote_id: String(answer.body.quote_id) };
}

describe('the buckets of an account', () => {
  it('are shared by all three shards: after four quick creates further ones are refused on every shard', async () => {
    const answers = await Promise.all([0, 1, 2, 1, 0, 2].map((shard) => creates(linked.shard(shard))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 429, 429]);
    expect(answers.find(({ status }) => status === 429)).toMatchObject(LIMITED);
    passes(500);
    const next = await Promise.all([0, 1, 2].map((shard) => creates(linked.shard(shard))));
    expect(next.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
  });

  it('belong to one account each, and to one kind of command', async () => {
    for (let call = 0; call < 4; call += 1) await creates(linked.shard(call % 3));
    expect(await creates(linked.shard(0))).toMatchObject(LIMITED);
    expect(await linked.shard(0).ask(linked.shard(0).createOrder('otto'))).toMatchObject({ status: 201 });
    expect(await available(OLGA, 'cancel')).toBe(10);
    for (let call = 0; call < 10; call += 1) {
      const { status } = await linked.shard(0).ask(cancelOrder(OLGA, await anAuction()));
      expect(status).toBe(call === 0 ? 200 : 422);
    }
    expect(await linked.shard(0).ask(cancelOrder(OLGA, await anAuction()))).toMatchObject(LIMITED);
  });

  async function anAuction(): Promise<string> {
    return Promise.resolve([...linked.shard(0).shard.book.of(OLGA)].map(({ id }) => id).sort()[0]!);
  }

  it('are reported by the home shard', async () => {
    await creates(linked.shard(0));
    const { body } = await linked
      .shard(homeShard(OLGA))
      .ask({ op: 'limits', account: OLGA, request_id: 'r' });
    expect(body).toEqual({ available: { create: 3, cancel: 10, quote: 100, withdraw: 500 } });
  });

  it('are not touched by a repeat, nor by a command that is refused before them', async () => {
    const order = linked.shard(1).createOrder();
    const first = await linked.shard(1).ask(order);
    expect(first.status).toBe(201);
    for (let repeat = 0; repeat < 20; repeat += 1) {
      expect(await linked.shard(1).ask(order)).toMatchObject({ status: 200, text: first.text });
    }
    const strange = await linked.shard(1).ask(cancelOrder(accountOf('otto'), String(first.body.auction_id)));
    expect(strange.status).toBe(404);
    expect(await available(OLGA, 'create')).toBe(3);
    expect(await available(accountOf('otto'), 'cancel')).toBe(10);
  });

  it('let a refused call be repeated with its key', async () => {
    for (let call = 0; call < 4; call += 1) await creates(linked.shard(0));
    const order = linked.shard(2).createOrder();
    expect(await linked.shard(2).ask(order)).toMatchObject(LIMITED);
    passes(500);
    expect(await linked.shard(2).ask(order)).toMatchObject({ status: 201 });
  });

  it('are checked before anything is reserved or written', async () => {
    for (let call = 0; call < 4; call += 1) await creates(linked.shard(0));
    const before = [
      await world.reservedOf('olga'),
      linked.shard(1).writer.head.sequence,
      linked.shard(1).shard.book.size,
    ];
    expect(await creates(linked.shard(1))).toMatchObject(LIMITED);
    expect([
      await world.reservedOf('olga'),
      linked.shard(1).writer.head.sequence,
      linked.shard(1).shard.book.size,
    ]).toEqual(before);
  });

  it('count a withdraw-all once, at its first shard', async () => {
    await linked.shard(0).ask(withdrawAllOrder(MIA));
    await linked.shard(1).ask({ ...withdrawAllOrder(MIA), metered: false });
    await linked.shard(2).ask({ ...withdrawAllOrder(MIA), metered: false });
    expect(await available(MIA, 'withdraw')).toBe(499);
  });
});

describe('quotes of a maker at several shards', () => {
  /** Two auctions on each shard. One auction alone allows twenty calls. */
  let auctions: { readonly shard: number; readonly id: string }[];

  beforeEach(async () => {
    auctions = [];
    for (const shard of [0, 1, 2])
      for (const originator of ['olga', 'otto'])
        auctions.push({ shard, id: await linked.shard(shard).opens(originator) });
  });

  /** Sends quotes that are always refused, so that only the buckets and that refusal answer. */
  async function asksFor(times: number, where = auctions): Promise<number[]> {
    const statuses: number[] = [];
    for (let call = 0; call < times; call += 1) {
      const { shard, id } = where[call % where.length]!;
      const order = submitOrder(MIA, id, { ...TERMS, price_atoms: 500_001 });
      statuses.push((await linked.shard(shard).ask(order)).status);
    }
    return statuses;
  }

  it('allow exactly the burst, wherever tokens were leased', async () => {
    const statuses = await asksFor(110);
    expect(statuses.filter((status) => status === 422)).toHaveLength(100);
    expect(statuses.lastIndexOf(422)).toBe(99);
    expect(await available(MIA, 'quote')).toBe(0);
    passes(100);
    expect(await asksFor(7)).toEqual([422, 422, 422, 422, 422, 429, 429]);
  });

  it('get tokens that another shard has leased and does not use', async () => {
    const home = homeShard(MIA);
    const [near, far] = [(home + 1) % 3, (home + 2) % 3] as [number, number];
    for (const originator of ['olga', 'otto'])
      auctions.push({ shard: far, id: await linked.shard(far).opens(originator) });
    const at = (where: number): typeof auctions => auctions.filter(({ shard }) => shard === where);
    expect(await asksFor(1, at(near))).toEqual([422]);
    expect(await asksFor(40, at(home))).toEqual(Array<number>(40).fill(422));
    expect(await asksFor(60, at(far))).toEqual([...Array<number>(59).fill(422), 429]);
    expect(await asksFor(1, at(near))).toEqual([429]);
  });
});

/** Counts how often others ask this shard for tokens. */
function countsMessages(shard: number): () => number {
  let messages = 0;
  const target = linked.shard(shard).shard;
  const handle = target.handle.bind(target);
  target.handle = (request, peer) => {
    if (request.op === 'take_tokens') messages += 1;
    return handle(request, peer);
  };
  return () => messages;
}

describe('the bucket of an account in one auction', () => {
  it('holds twenty submits and revisions and refills by ten a second; withdrawals are not limited by it', async () => {
    const auctionId = await opened();
    const quote = await quotes(auctionId);
    const revise = (revision: number) =>
      linked
        .shard(0)
        .ask(
          reviseOrder(MIA, quote, { expected_revision: revision, price_atoms: 400_000 + revision * 1_000 }),
        );
    for (let revision = 1; revision <= 19; revision += 1) expect((await revise(revision)).status).toBe(200);
    const spent = await available(MIA, 'quote');
    expect(spent).toBe(80);
    expect(await revise(20)).toMatchObject(LIMITED);
    expect(await available(MIA, 'quote')).toBe(spent);
    // Another auction has its own bucket.
    await quotes(await opened());
    passes(100);
    expect((await revise(20)).status).toBe(200);
    expect(await revise(21)).toMatchObject(LIMITED);
    world.clock.goOn();
    expect((await linked.shard(0).ask(withdrawOrder(MIA, quote))).status).toBe(200);
  });
});

describe('an account whose home shard does not answer', () => {
  const home = homeShard(OLGA);
  const [near = 0, far = 0] = [0, 1, 2].filter((shard) => shard !== home);

  it('is metered by each other shard separately, at a third of the rate', async () => {
    linked.silence(home);
    for (let call = 0; call < 4; call += 1) expect((await creates(linked.shard(near))).status).toBe(201);
    expect(await creates(linked.shard(near))).toMatchObject(LIMITED);
    passes(1_400);
    expect(await creates(linked.shard(near))).toMatchObject(LIMITED);
    passes(100);
    expect((await creates(linked.shard(near))).status).toBe(201);
    expect(await creates(linked.shard(near))).toMatchObject(LIMITED);
    expect((await creates(linked.shard(far))).status).toBe(201);
  });

  it('waits for the home shard no longer than fifty milliseconds', async () => {
    linked.silence(home);
    const began = performance.now();
    expect((await creates(linked.shard(near))).status).toBe(201);
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(45);
    expect(took).toBeLessThan(1_000);
  });

  it('is metered at the home shard again as soon as that answers', async () => {
    linked.silence(home);
    for (let call = 0; call < 5; call += 1) await creates(linked.shard(near));
    linked.unsilence(home);
    await eventually(async () => expect((await creates(linked.shard(near))).status).toBe(201));
    expect(await available(OLGA, 'create')).toBeLessThan(4);
  });
});

it('tokens for many callers are requested in one message', async () => {
  const home = homeShard(MIA);
  const away = (home + 1) % 3;
  const auctionId = await opened(away);
  const messages = countsMessages(home);
  const order = () => submitOrder(MIA, auctionId, { ...TERMS, price_atoms: 500_001 });
  const answers = await Promise.all(Array.from({ length: 15 }, () => linked.shard(away).ask(order())));
  expect(answers.every(({ status }) => status === 422)).toBe(true);
  expect(messages()).toBeGreaterThan(0);
  expect(messages()).toBeLessThanOrEqual(3);
});
