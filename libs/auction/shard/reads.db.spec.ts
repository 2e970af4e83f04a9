import type { ReadPreferences } from '../protocol/protocol.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AwardToSettle } from '../settlement/settlement.js';
import { eventually } from '#libs/testing/eventually.js';
import { LiveShard, type ShardAnswer } from '#libs/testing/shards/shard-fixture.js';
import {
  cancelOrder,
  reviseOrder,
  submitOrder,
  withdrawOrder,
  type QuoteName,
} from '#libs/testing/shards/shard-orders.js';
import { accountOf, ShardWorld } from '#libs/testing/shards/shard-world.js';

/** Allows for a busy machine. */
jest.setTimeout(30_000);

const [OLGA, MIA, MAX, MOE] = ['olga', 'mia', 'max', 'moe'].map(accountOf) as [
  string,
  string,
  string,
  string,
];
const TERMS = { price_atoms: 500_000, quantity_atoms: 4_000_000 };
const NOT_HELD = { status: 404, text: '' };

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

function view(auctionId: string, account: string, peer: Partial<ReadPreferences> = {}): Promise<ShardAnswer> {
  return live.ask({ op: 'auction', auction_id: auctionId, account, request_id: 'r' }, peer);
}

function timeline(auctionId: string, account: string, after = 0, limit = 1_000): Promise<ShardAnswer> {
  return live.ask({ op: 'events', auction_id: auctionId, after_seq: after, limit, account, request_id: 'r' });
}

function quotesOf(auctionId: string, account: string): Promise<ShardAnswer> {
  return live.ask({ op: 'auction_quotes', auction_id: auctionId, account, request_id: 'r' });
}

async function rows(
  account: string,
  peer: Partial<ReadPreferences> = {},
  limit = 50,
): Promise<[string, string, string][]> {
  const { text } = await live.ask({ op: 'auctions', limit, account, request_id: 'r' }, peer);
  return JSON.parse(text) as [string, string, string][];
}

async function ownQuotes(account: string): Promise<string[][]> {
  return JSON.parse((await live.ask({ op: 'my_quotes', account, request_id: 'r' })).text) as string[][];
}

async function quotes(auctionId: string, account = MIA, different: object = {}): Promise<QuoteName> {
  const { status, body, text } = await live.ask(submitOrder(account, auctionId, { ...TERMS, ...different }));
  if (status !== 201) throw new Error(`the quote was refused: ${text}`);
  return { auction_id: auctionId, quote_id: String(body.quote_id) };
}

/** Waits until the shard knows that everything so far is projected. It may continue by itself meanwhile. */
async function projected(): Promise<void> {
  const head = live.writer.head.sequence;
  await world.project();
  await eventually(() => expect(live.shard.conditions.projection.projectedTo).toBeGreaterThanOrEqual(head));
}

async function decided(auctionId: string, status = 'AWARDED'): Promise<AwardToSettle[]> {
  await live.leap(60_000);
  await eventually(() => expect(live.shard.book.find(auctionId)?.durable?.status).toBe(status));
  const { text } = await live.ask({ op: 'pending_awards', known: [], wait_ms: 0 });
  return (JSON.parse(text) as AwardToSettle[]).filter((award) => award.auction_id === auctionId);
}

function confirms({ auction_id, award_id }: AwardToSettle): Promise<ShardAnswer> {
  return live.ask({ op: 'execution_report', auction_id, award_id, step: 'CONFIRMED', attempt: 1 });
}

describe('an event that is not durable yet', () => {
  it('appears in no read until it is durable', async () => {
    const auctionId = await live.opens();
    const shown = async (): Promise<string[]> => {
      const answers = await Promise.all([
        view(auctionId, MIA),
        view(auctionId, OLGA),
        timeline(auctionId, MIA),
        quotesOf(auctionId, MIA),
        live.ask({ op: 'my_quotes', account: MIA, request_id: 'r' }),
        live.ask({ op: 'auctions', limit: 50, account: MIA, request_id: 'r' }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      return answers.map(({ text }) => text);
    };
    const before = await shown();
    live.writer.hold();
    const asked = [live.ask(submitOrder(MIA, auctionId, TERMS)), live.ask(live.createOrder())];
    await eventually(() => {
      expect(live.writer.inFlight).toBe(1);
      expect(live.shard.book.find(auctionId)?.head.books).toHaveLength(1);
    });
    expect(await shown()).toEqual(before);
    live.writer.letGo();
    await Promise.all(asked);
    const after = await shown();
    expect(after.filter((text, index) => text !== before[index])).toHaveLength(5);
  });

  it('already decides later commands, but their refusal is sent only after it is durable', async () => {
    const auctionId = await live.opens();
    const quote = await quotes(auctionId);
    live.writer.hold();
    const cancelled = live.ask(cancelOrder(OLGA, auctionId));
    await eventually(() => expect(live.writer.inFlight).toBe(1));
    let received: ShardAnswer | undefined;
    void live.ask(withdrawOrder(MIA, quote)).then((answer) => {
      received = answer;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(received).toBeUndefined();
    live.writer.letGo();
    await cancelled;
    await eventually(() =>
      expect(received).toMatchObject({ status: 422, body: { error: 'AUCTION_NOT_OPEN' } }),
    );
  });
});

describe('who may see an auction', () => {
  it('is its originator and its audience; for anyone else it does not exist', async () => {
    const auctionId = await live.opens();
    expect(await view(auctionId, OLGA)).toMatchObject({ status: 200, body: { role: 'ORIGINATOR' } });
    expect(await view(auctionId, MIA)).toMatchObject({ status: 200, body: { role: 'MARKET_MAKER' } });
    for (const stranger of [accountOf('otto'), accountOf('may'), accountOf('nobody')]) {
      for (const answer of [
        await view(auctionId, stranger),
        await timeline(auctionId, stranger),
        await quotesOf(auctionId, stranger),
      ]) {
        expect(answer).toMatchObject(NOT_HELD);
      }
      expect(await rows(stranger)).toEqual([]);
      const submit = submitOrder(stranger, auctionId, TERMS);
      expect(await live.ask(submit)).toMatchObject({ status: 404, body: { error: 'auction_not_found' } });
    }
    const unknown = auctionId.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    const strange = await live.ask(submitOrder(accountOf('may'), auctionId, TERMS));
    expect(await live.ask(submitOrder(MIA, unknown, TERMS))).toEqual(strange);
  });

  it('is only the maker if a quote is named', async () => {
    const auctionId = await live.opens();
    const quote = await quotes(auctionId);
    const foreign = await live.ask(withdrawOrder(MAX, quote));
    expect(foreign).toMatchObject({ status: 404, body: { error: 'quote_not_found' } });
    expect(await live.ask(withdrawOrder(MAX, { ...quote, quote_id: auctionId }))).toEqual(foreign);
    expect(await live.ask(cancelOrder(MIA, auctionId))).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    });
    expect(await live.ask(submitOrder(OLGA, auctionId, TERMS))).toMatchObject({ status: 403 });
  });
});

describe('an auction that is over for its viewer', () => {
  it('is read from its owner with readFallback until it is projected, and not afterwards', async () => {
    const auctionId = await live.opens();
    await live.ask(cancelOrder(OLGA, auctionId));
    expect(await view(auctionId, OLGA)).toMatchObject(NOT_HELD);
    expect(await view(auctionId, OLGA, { readFallback: true })).toMatchObject({
      status: 200,
      body: { status: 'CANCELLED' },
    });
    expect(await timeline(auctionId, MIA)).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
    expect((await rows(OLGA)).map(([, id]) => id)).toContain(auctionId);
    await projected();
    expect(await view(auctionId, OLGA, { readFallback: true })).toMatchObject(NOT_HELD);
    expect(await timeline(auctionId, MIA)).toMatchObject(NOT_HELD);
    expect(await quotesOf(auctionId, MIA)).toMatchObject(NOT_HELD);
    expect((await rows(OLGA)).map(([, id]) => id)).not.toContain(auctionId);
    // Its history is written before it is evicted.
    await eventually(() => expect(live.shard.book.find(auctionId)).toBeUndefined());
  });

  it('stays readable for a winner until the end of its own award is projected', async () => {
    const auctionId = await live.opens();
    await quotes(auctionId, MIA);
    await quotes(auctionId, MAX);
    const awards = await decided(auctionId);
    await projected();
    const mine = awards.find((award) => award.seller.account === MIA);
    expect((await confirms(mine!)).status).toBe(200);
    // The projections have the award, but not its end.
    const held = { status: 200, body: { status: 'SETTLED', phase: 'COMPLETED' } };
    expect(await view(auctionId, MIA, { readFallback: true })).toMatchObject(held);
    expect((await timeline(auctionId, MIA)).body.status).toBe('SETTLED');
    expect((await rows(MIA)).map(([, id]) => id)).toContain(auctionId);
    await projected();
    expect(await view(auctionId, MIA, { readFallback: true })).toMatchObject(NOT_HELD);
    expect(await view(auctionId, MAX)).toMatchObject({ status: 200, body: { status: 'AWARDED' } });
    for (const award of awards) await confirms(award);
  });

  it('is treated the same after a restart', async () => {
    const auctionId = await live.opens();
    await quotes(auctionId, MIA);
    await quotes(auctionId, MAX);
    const awards = await decided(auctionId);
    const mine = awards.find((award) => award.seller.account === MIA);
    await confirms(mine!);
    await world.project();
    await live.stop();
    live = await LiveShard.open(world);
    expect(await view(auctionId, MIA, { readFallback: true })).toMatchObject(NOT_HELD);
    expect(await view(auctionId, MAX)).toMatchObject({ status: 200 });
    for (const award of awards) await confirms(award);
  });
});

describe('a timeline', () => {
  it('comes in pages that join without gaps or repeats', async () => {
    const auctionId = await live.opens();
    const quote = await quotes(auctionId);
    for (let revision = 1; revision < 6; revision += 1) {
      await live.ask(
        reviseOrder(MIA, quote, { expected_revision: revision, price_atoms: 500_000 - revision * 1_000 }),
      );
    }
    await live.ask(withdrawOrder(MIA, quote));
    await quotes(auctionId);
    const whole = (await timeline(auctionId, MIA)).body.events as { seq: number }[];
    expect(whole.map(({ seq }) => seq)).toEqual(whole.map((_, index) => index + 1));
    expect(whole).toHaveLength(10);
    const joined: unknown[] = [];
    let after: number | undefined = 0;
    while (after !== undefined) {
      const { body }: ShardAnswer = await timeline(auctionId, MIA, after, 3);
      expect(body.complete).toBe(true);
      joined.push(...(body.events as unknown[]));
      after = body.next_after_seq as number | undefined;
    }
    expect(joined).toEqual(whole);
    expect(await timeline(auctionId, MIA, 10)).toMatchObject({ status: 200, body: { events: [] } });
    expect(await timeline(auctionId, MIA, 500)).toMatchObject({ status: 200, body: { events: [] } });
  });
});

describe('lists', () => {
  it('are newest first, respect the limit, and continue after a cursor', async () => {
    for (let auction = 0; auction < 5; auction += 1) await live.opens('otto');
    const account = accountOf('otto');
    const all = await rows(account);
    expect(all).toHaveLength(5);
    expect(all.map(([at]) => at)).toEqual(
      all
        .map(([at]) => at)
        .sort()
        .reverse(),
    );
    expect(await rows(account, {}, 2)).toEqual(all.slice(0, 2));
    const [at, id] = all[1]!;
    const rest = await live.ask({
      op: 'auctions',
      limit: 50,
      before: { opened_at: at, auction_id: id },
      account,
      request_id: 'r',
    });
    expect(JSON.parse(rest.text)).toEqual(all.slice(2));
    expect(JSON.parse(all[0]![2])).toMatchObject({ auction_id: all[0]![1], role: 'ORIGINATOR' });
  });

  it('include completed auctions for a peer that does not merge them itself', async () => {
    const auctionId = await live.opens();
    await live.ask(cancelOrder(OLGA, auctionId));
    await projected();
    expect((await rows(OLGA, { activeOnly: true })).map(([, id]) => id)).not.toContain(auctionId);
    const both = await rows(OLGA, { activeOnly: false });
    expect(both.map(([, id]) => id)).toContain(auctionId);
    expect(new Set(both.map(([, id]) => id)).size).toBe(both.length);
  });
});

describe('quotes of an account in all auctions', () => {
  it('come from the owner until their auction is fully projected', async () => {
    await projected();
    const auctionId = await live.opens();
    const quote = await quotes(auctionId, MOE);
    expect(await ownQuotes(MOE)).toMatchObject([
      [expect.any(String), quote.quote_id, 'ACTIVE', expect.any(String)],
    ]);
    await projected();
    expect(await ownQuotes(MOE)).toEqual([]);
    await live.ask(withdrawOrder(MOE, quote));
    expect(await ownQuotes(MOE)).toMatchObject([
      [expect.any(String), quote.quote_id, 'WITHDRAWN', expect.any(String)],
    ]);
  });
});

describe('preflights', () => {
  it('return what a maker could carry, and change nothing', async () => {
    const auctionId = await live.opens();
    const before = await world.reservedOf('mia');
    const asked = {
      op: 'quote_preflight',
      auction_id: auctionId,
      price_atoms: 500_000,
      account: MIA,
      request_id: 'r',
    } as const;
    const verdict = await live.ask({ ...asked, quantity_atoms: 4_000_000 });
    expect(verdict).toMatchObject({
      status: 200,
      body: { status: 'EXECUTABLE', requested_quantity_atoms: '4000000' },
    });
    expect(await world.reservedOf('mia')).toEqual(before);
    await live.ask(cancelOrder(OLGA, auctionId));
    const over = { status: 422, body: { error: 'auction_rejected' } };
    expect(await live.ask({ ...asked, quantity_atoms: 4_000_000 })).toMatchObject(over);
    await projected();
    expect(await live.ask({ ...asked, quantity_atoms: 4_000_000 })).toMatchObject(over);
    const stranger = { ...asked, quantity_atoms: 4_000_000, account: accountOf('may') };
    expect(await live.ask(stranger)).toMatchObject({ status: 404 });
  });

  it('give an originator the same result as a create, or 500 while the shard drains', async () => {
    const { body, account } = live.createOrder();
    const asked = { op: 'originator_preflight', body, account, request_id: 'r' } as const;
    expect(await live.ask(asked)).toMatchObject({ status: 200, body: { status: 'EXECUTABLE' } });
    const wrong = { ...asked, body: { ...body, quantity_atoms: 1_500_000 } };
    expect(await live.ask(wrong)).toMatchObject({ status: 422, body: { error: 'INVALID_QUANTITY_STEP' } });
    live.shard.conditions.drain();
    expect(await live.ask(asked)).toMatchObject({ status: 500, body: { error: 'internal_error' } });
    live.shard.conditions.resume();
  });
});
