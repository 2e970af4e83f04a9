import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  cancelOrder,
  collidingKeys,
  createOrder,
  freshKey,
  reviseOrder,
  submitOrder,
  withdrawAllOrder,
  withdrawOrder,
} from '#libs/testing/shards/shard-orders.js';
import { type AuctionHistory, HistoryTable } from './histories/history-table.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard, rainAuction, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const MIA = accountOf('mia');
const OLGA = accountOf('olga');
const TERMS = { price_atoms: 500_000, quantity_atoms: 4_000_000 };

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

async function restarted(): Promise<void> {
  await live.stop();
  live = await LiveShard.open(world);
}

/** The first reply again, with 200 instead of 201, because nothing is created. */
function again({ status, text }: ShardAnswer): Pick<ShardAnswer, 'status' | 'text'> {
  return { status: status === 201 ? 200 : status, text };
}

/** A quote that must be accepted. */
async function submits(auctionId: string, account = MIA, terms = TERMS): Promise<Record<string, string>> {
  const { status, body, text } = await live.ask(submitOrder(account, auctionId, terms));
  if (status !== 201) throw new Error(`the quote was refused: ${text}`);
  return body as Record<string, string>;
}

function quoteName(quote: Record<string, string>) {
  return { auction_id: quote.auction_id ?? '', quote_id: quote.quote_id ?? '' };
}

describe('a repeat of a command', () => {
  it('whose key collides in the index gets its own reply, before and after a restart', async () => {
    const quote = quoteName(await submits(await live.opens()));
    const [one, two] = collidingKeys({ operation: 'REVISE', account_id: MIA });
    const first = reviseOrder(MIA, quote, { expected_revision: 1, price_atoms: 490_000 }, one);
    const second = reviseOrder(MIA, quote, { expected_revision: 2, price_atoms: 480_000 }, two);
    const answers = [await live.ask(first), await live.ask(second)];
    expect(answers.map(({ status, body }) => [status, body.revision])).toEqual([
      [200, 2],
      [200, 3],
    ]);
    const repeated = async () => [await live.ask(first), await live.ask(second)];
    expect(await repeated()).toMatchObject(answers.map(again));
    await restarted();
    expect(await repeated()).toMatchObject(answers.map(again));
    const other = reviseOrder(MIA, quote, { expected_revision: 3, price_atoms: 470_000 }, one);
    expect(await live.ask(other)).toMatchObject({ status: 409, body: { error: 'idempotency_key_conflict' } });
  });

  it('gets the same reply byte for byte, also after a restart and after later changes', async () => {
    const create = live.createOrder();
    const first = [await live.ask(create)];
    const auctionId = String(first[0]?.body.auction_id);
    const submit = submitOrder(MIA, auctionId, TERMS);
    first.push(await live.ask(submit));
    const quote = { auction_id: auctionId, quote_id: String(first[1]?.body.quote_id) };
    const revise = reviseOrder(MIA, quote, { expected_revision: 1, price_atoms: 490_000 });
    first.push(await live.ask(revise));
    const withdraw = withdrawOrder(MIA, quote);
    first.push(await live.ask(withdraw));
    const cancel = cancelOrder(OLGA, auctionId, freshKey(), 'not today');
    first.push(await live.ask(cancel));
    const orders = [create, submit, revise, withdraw, cancel];
    expect(first.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200]);

    for (const [index, order] of orders.entries())
      expect(await live.ask(order)).toMatchObject(again(first[index]!));
    await restarted();
    for (const [index, order] of orders.entries())
      expect(await live.ask(order)).toMatchObject(again(first[index]!));
    // Now the auction leaves memory, and only the projections know it.
    await world.project();
    await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
    for (const [index, order] of orders.entries())
      expect(await live.ask(order)).toMatchObject(again(first[index]!));
  });

  it('does nothing a second time', async () => {
    const auctionId = await live.opens();
    const submit = submitOrder(MIA, auctionId, TERMS);
    await live.ask(submit);
    const before = live.shard.book.find(auctionId)?.durable;
    const held = await world.reservedOf('mia');
    await live.ask(submit);
    expect(live.shard.book.find(auctionId)?.durable).toBe(before);
    expect(await world.reservedOf('mia')).toEqual(held);
  });

  it('of a refused command gets the same refusal', async () => {
    const auctionId = await live.opens();
    const offGrid = submitOrder(MIA, auctionId, { ...TERMS, price_atoms: 500_001 });
    const first = await live.ask(offGrid);
    expect(first).toMatchObject({ status: 422, body: { error: 'INVALID_PRICE_TICK' } });
    expect(await live.ask(offGrid)).toEqual(first);
    await restarted();
    expect(await live.ask(offGrid)).toEqual(first);
    await live.ask(cancelOrder(OLGA, auctionId));
    await world.project();
    await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
    expect(await live.ask(offGrid)).toEqual(first);
  });
});

describe('a create that the engine refused', () => {
  it('is refused again with the same reply, before and after its projection and a restart', async () => {
    const order = live.createOrder('olga', { quantity_atoms: 1_500_000 });
    const first = await live.ask(order);
    expect(first).toMatchObject({ status: 422, body: { error: 'INVALID_QUANTITY_STEP' } });
    expect(await live.ask(order)).toEqual(first);
    await restarted();
    expect(await live.ask(order)).toEqual(first);
    await world.project();
    await restarted();
    expect(await live.ask(order)).toEqual(first);
    const other = createOrder(OLGA, order.key, rainAuction());
    expect(await live.ask(other)).toMatchObject({ status: 409, body: { error: 'idempotency_key_conflict' } });
  });
});

describe('a key with other content', () => {
  it('is a conflict wherever the first reply is stored', async () => {
    const create = live.createOrder();
    const auctionId = String((await live.ask(create)).body.auction_id);
    const submit = submitOrder(MIA, auctionId, TERMS);
    await live.ask(submit);
    const others = [
      createOrder(OLGA, create.key, rainAuction({ side: 'SELL' })),
      submitOrder(MIA, auctionId, { ...TERMS, price_atoms: 1_000 }, submit.key),
    ];
    const conflict = {
      status: 409,
      body: { error: 'idempotency_key_conflict', message: expect.any(String) },
    };
    for (const order of others) expect(await live.ask(order)).toMatchObject(conflict);
    await live.ask(cancelOrder(OLGA, auctionId));
    await world.project();
    await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
    for (const order of others) expect(await live.ask(order)).toMatchObject(conflict);
  });

  it('belongs to one account, one operation and one auction', async () => {
    const key = freshKey();
    const [here, there] = [await live.opens(), await live.opens()];
    const asked = [
      submitOrder(MIA, here, TERMS, key),
      submitOrder(accountOf('max'), here, { ...TERMS, price_atoms: 480_000 }, key),
      submitOrder(MIA, there, { ...TERMS, price_atoms: 470_000 }, key),
    ];
    for (const order of asked) expect(await live.ask(order)).toMatchObject({ status: 201 });
    const quote = { auction_id: here, quote_id: String((await live.ask(asked[0]!)).body.quote_id) };
    expect(await live.ask(withdrawOrder(MIA, quote, key))).toMatchObject({ body: { status: 'WITHDRAWN' } });
  });
});

describe('a reply that is not stored', () => {
  it('lets the key be used again after a 409', async () => {
    const quote = await submits(await live.opens());
    const stale = reviseOrder(MIA, quoteName(quote), { expected_revision: 7, price_atoms: 490_000 });
    expect(await live.ask(stale)).toMatchObject({ status: 409, body: { error: 'quote_revision_conflict' } });
    const right = reviseOrder(
      MIA,
      quoteName(quote),
      { expected_revision: 1, price_atoms: 490_000 },
      stale.key,
    );
    expect(await live.ask(right)).toMatchObject({ status: 200, body: { revision: 2 } });
  });

  it('lets the key be used again after a 503', async () => {
    const order = live.createOrder();
    live.shard.conditions.drain();
    expect(await live.ask(order)).toMatchObject({
      status: 503,
      body: { error: 'auction_owner_unavailable' },
    });
    live.shard.conditions.resume();
    expect(await live.ask(order)).toMatchObject({ status: 201 });
  });

  it('does not prevent the reply to a repeat while the owner drains', async () => {
    const order = live.createOrder();
    const first = await live.ask(order);
    live.shard.conditions.drain();
    expect(await live.ask(order)).toMatchObject(again(first));
    live.shard.conditions.resume();
  });
});

describe('a call whose key is still being worked on', () => {
  it('gets 409 after five seconds, and not before', async () => {
    const order = live.createOrder();
    live.writer.hold();
    const first = live.ask(order);
    await eventually(() => expect(live.writer.inFlight).toBe(1));
    let received: ShardAnswer | undefined;
    void live.ask(order).then((answer) => {
      received = answer;
    });
    await live.leap(4_900);
    expect(received).toBeUndefined();
    await live.leap(100);
    await eventually(() =>
      expect(received).toMatchObject({ status: 409, body: { error: 'idempotency_key_in_progress' } }),
    );
    live.writer.letGo();
    expect((await first).status).toBe(201);
  });

  it('opens one auction for fifty simultaneous calls with one key', async () => {
    const order = live.createOrder();
    const answers = await Promise.all(Array.from({ length: 50 }, () => live.ask(order)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('gets a conflict only after the first call has a result', async () => {
    const order = live.createOrder();
    live.writer.hold();
    const first = live.ask(order);
    let received: ShardAnswer | undefined;
    void live.ask(createOrder(OLGA, order.key, rainAuction({ side: 'SELL' }))).then((answer) => {
      received = answer;
    });
    await eventually(() => expect(live.writer.inFlight).toBe(1));
    expect(received).toBeUndefined();
    live.writer.letGo();
    await first;
    await eventually(() =>
      expect(received).toMatchObject({ status: 409, body: { error: 'idempotency_key_conflict' } }),
    );
  });
});

describe('withdraw-all', () => {
  it('withdraws all quotes that may be withdrawn, and always gives a repeat the same reply', async () => {
    const free = await submits(await live.opens());
    const final = await submits(await live.opens('olga', { quote_revision_policy: 'FINAL' }));
    const order = withdrawAllOrder(MIA);
    const first = await live.ask(order);
    expect(first).toMatchObject({
      status: 200,
      body: {
        withdrawn: expect.arrayContaining([free.quote_id]),
        not_withdrawable: [{ quote_id: final.quote_id, error: 'QUOTE_NOT_WITHDRAWABLE' }],
      },
    });
    const later = await submits(String(free.auction_id));
    expect(await live.ask(order)).toEqual(first);
    await restarted();
    expect(await live.ask(order)).toEqual(first);
    await world.project();
    await restarted();
    expect(await live.ask(order)).toEqual(first);
    expect(await live.ask(withdrawAllOrder(MIA, { venue: 'venue_b' }, order.key))).toMatchObject({
      status: 409,
    });
    const quotes = await live.ask({
      op: 'auction_quotes',
      auction_id: String(free.auction_id),
      account: MIA,
      request_id: 'r',
    });
    expect(quotes.body.quotes).toMatchObject([{ quote_id: later.quote_id, status: 'ACTIVE' }, {}]);
  });

  it('is limited to the venue and the auctions that it names', async () => {
    await live.ask(withdrawAllOrder(MIA));
    const [one, two] = [await submits(await live.opens()), await submits(await live.opens())];
    const none = await live.ask(withdrawAllOrder(MIA, { venue: 'venue_b' }));
    expect(none.body.withdrawn).toEqual([]);
    const named = await live.ask(withdrawAllOrder(MIA, { auction_ids: [String(one.auction_id)] }));
    expect(named.body.withdrawn).toEqual([one.quote_id]);
    const rest = await live.ask(withdrawAllOrder(MIA, { venue: 'venue_a' }));
    expect(rest.body.withdrawn).toEqual([two.quote_id]);
  });
});

describe('a forged reply in the projections', () => {
  const PLANT = `
    insert into auction_history.answers (account_id, sequence, expires_at, shard, status, operation, key, content, body)
    values ($1, $2, 9000000000000000000, 0, $3, $4, $5, $6, $7)`;

  it.each([0, 1, 2, 1_000_000])(
    'does not stop a command that was never carried out (record %i)',
    async (sequence) => {
      const { pool } = world.database;
      const quote = await submits(await live.opens());
      const all = withdrawAllOrder(MIA);
      await pool.query(PLANT, [MIA, sequence, 200, 'WITHDRAW_ALL', all.key, all.content, '{"withdrawn":[]}']);
      expect((await live.ask(all)).body.withdrawn).toContain(quote.quote_id);
      const create = live.createOrder();
      await pool.query(PLANT, [OLGA, sequence, 201, 'CREATE', create.key, create.content, 'none']);
      expect(await live.ask(create)).toMatchObject({ status: 201, body: { status: 'OPEN' } });
      // The forged rows do not disturb the projector.
      await world.project();
    },
  );

  it('is not sent in place of the real reply', async () => {
    const quote = await submits(await live.opens());
    const order = withdrawAllOrder(MIA);
    const first = await live.ask(order);
    expect(first.body.withdrawn).toContain(quote.quote_id);
    await world.project();
    await restarted();
    await world.database.pool.query(`update auction_history.answers set status = 999, body = 'anything'`);
    expect(await live.ask(order)).toEqual(first);
  });
});

/** Deletes everything that the projections have of an auction, as a process with write access to them could. */
async function unprojected(auctionId: string): Promise<void> {
  for (const table of [
    'auction_history.events',
    'auction_history.quotes',
    'completed.viewers',
    'completed.auctions',
  ]) {
    await world.database.pool.query(`delete from ${table} where auction_id = $1`, [auctionId]);
  }
}

async function forgotten(auctionId: string): Promise<void> {
  await world.project();
  await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
}

describe('an auction that is over and evicted', () => {
  it('is not opened a second time if the projections have lost it, before and after a restart', async () => {
    const order = live.createOrder();
    const first = await live.ask(order);
    const auctionId = String(first.body.auction_id);
    await live.ask(cancelOrder(OLGA, auctionId));
    await forgotten(auctionId);
    await unprojected(auctionId);
    const records = live.writer.head.sequence;
    expect(await live.ask(order)).toMatchObject(again(first));
    const other = createOrder(OLGA, order.key, rainAuction({ side: 'SELL' }));
    expect(await live.ask(other)).toMatchObject({ status: 409, body: { error: 'idempotency_key_conflict' } });
    expect(live.writer.head.sequence).toBe(records);
    await restarted();
    expect(await live.ask(order)).toMatchObject(again(first));
    await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
  });

  it('is answered for repeats from the journal, whatever the projections say', async () => {
    const auctionId = await live.opens();
    const refused = submitOrder(MIA, auctionId, { ...TERMS, price_atoms: 500_001 });
    const accepted = submitOrder(MIA, auctionId, TERMS);
    const first = [await live.ask(refused), await live.ask(accepted)];
    expect(first.map(({ status }) => status)).toEqual([422, 201]);
    await live.ask(cancelOrder(OLGA, auctionId));
    await forgotten(auctionId);
    await world.database.pool.query(
      `update auction_history.events told set type = other.type, payload = replace(other.payload, $3, $2)
       from auction_history.events other
       where told.auction_id = $1 and told.command_key = $2 and other.auction_id = $1 and other.command_key = $3`,
      [auctionId, refused.key, accepted.key],
    );
    expect(await live.ask(refused)).toEqual(first[0]);
    expect(await live.ask(accepted)).toMatchObject(again(first[1]!));
  });

  it('is evicted only after its history is stored', async () => {
    const histories = new HistoryTable(world.database.pool, 0);
    let mayKeep = false;
    const ports = {
      histories: {
        find: (auctionId: string) => histories.find(auctionId),
        keep: (batch: readonly AuctionHistory[]) =>
          mayKeep ? histories.keep(batch) : Promise.reject(new Error('no room')),
      },
    };
    await live.stop();
    live = await LiveShard.open(world, 0, { ports });
    const auctionId = await live.opens();
    await live.ask(cancelOrder(OLGA, auctionId));
    await world.project();
    await eventually(() =>
      expect(live.faults).toContainEqual({ what: 'retirement', error: expect.any(Error) }),
    );
    expect(live.shard.book.find(auctionId)).toBeDefined();
    mayKeep = true;
    await live.leap(1_000);
    await forgotten(auctionId);
    expect(await histories.find(auctionId)).toHaveLength(3);
  });
});
