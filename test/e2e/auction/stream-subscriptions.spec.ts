import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AuctionJson } from '#libs/client/wire.js';
import { streamFloor, type StreamFloor } from '../stream-floor.js';
import { timelinesOf } from '../stream-record.js';
import { auctionBody, mustBe, type Trader } from '../trading-floor.js';

const MOST_SUBSCRIPTIONS = 64;

jest.setTimeout(90_000);

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
const opened: AuctionJson[] = [];

beforeAll(async () => {
  floor = await streamFloor();
  [originator, maker] = await floor.newTraders('originator', 'maker');
}, 60_000);

afterAll(async () => {
  await Promise.all(opened.map(({ auction_id: id }) => originator.cancel(id)));
  floor.close();
});

async function opens(by: Trader, makers: readonly Trader[], differing: object = {}): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_c', 0), makers, { duration_ms: 600_000, ...differing });
  const answer = await by.create({ ...body, quantity_atoms: 1_000_000 });
  const view = mustBe(201, answer);
  if (by === originator) opened.push(view);
  return view;
}

/** All live auctions of the list, newest first. */
async function listed(trader: Trader): Promise<AuctionJson[]> {
  const views: AuctionJson[] = [];
  for (let cursor = ''; ;) {
    const path = `/v1/auctions?limit=50${cursor}`;
    const page = mustBe(200, await trader.api.get<{ auctions: AuctionJson[]; next_cursor?: string }>(path));
    const live = page.auctions.filter(({ phase }) => phase === 'LIVE');
    views.push(...live);
    if (page.next_cursor === undefined || live.length < page.auctions.length) return views;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('the right to subscribe', () => {
  let view: AuctionJson;

  beforeAll(async () => {
    view = await opens(originator, [maker]);
    await maker.quotes(view.auction_id, 500_000, 1);
  });

  it.each(['originator', 'maker'])('its %s is shown its own view of the auction', async (role) => {
    const trader = role === 'maker' ? maker : originator;
    const client = await floor.listen(trader.name);
    const [one, all] = [await client.subscribeTo(view.auction_id), await client.subscribe()];
    const expected = await trader.view(view.auction_id);
    expect(client.memory.of(one).snapshots).toEqual([{ behind: 0, auctions: [expected] }]);
    expect(client.memory.of(all).snapshots).toEqual([{ behind: 0, auctions: await listed(trader) }]);
    expect(client.memory.of(all).snapshots[0]!.auctions).toContainEqual(expected);
  });

  it.each(['maker', 'originator', 'auditor-1', 'operator-1', 'viewer-1'] as const)(
    'another %s gets the answer for an unknown auction',
    async (who) => {
      const isTrader = who === 'maker' || who === 'originator';
      const client = await floor.listen(isTrader ? (await floor.newTrader(who)).name : who);
      const unknown = `${view.auction_id.slice(0, -4)}0000`;
      const asked = async (auctionId: string): Promise<string> => {
        await client.ask('subscribe', { channel: 'auction', auction_id: auctionId }, 'x');
        return client.texts.at(-1)!;
      };
      const refusal = await asked(view.auction_id);
      expect(JSON.parse(refusal)).toEqual({
        type: 'reject',
        cmd_id: 'x',
        status: 404,
        error: 'auction_not_found',
      });
      expect(await asked(unknown)).toBe(refusal);
      const all = await client.subscribe();
      const [snapshot] = client.memory.of(all).snapshots;
      expect(snapshot!.auctions.map(({ auction_id: id }) => id)).not.toContain(view.auction_id);
    },
  );
});

describe('an auction that was just created', () => {
  it('can be subscribed to at every gateway as soon as its create was answered', async () => {
    const clients = await Promise.all(
      [originator, maker].flatMap(({ name }) => [0, 1].map((gateway) => floor.listen(name, {}, { gateway }))),
    );
    for (let round = 0; round < 25; round += 1) {
      const { auction_id: id } = await opens(originator, [maker]);
      const replies = await Promise.all(
        clients.map((client) => client.ask('subscribe', { channel: 'auction', auction_id: id })),
      );
      expect(replies.map(({ type }) => type)).toEqual(replies.map(() => 'subscribed'));
    }
  });
});

describe('a subscription', () => {
  it('begins after a given entry, and goes on with new ones', async () => {
    const { auction_id: id } = await opens(originator, [maker]);
    let quote = await maker.quotes(id, 600_000, 1);
    for (let price = 590_000; price > 560_000; price -= 10_000)
      quote = mustBe(200, await maker.revise(quote, { price_atoms: price }));
    const client = await floor.listen(maker.name);
    const from = await client.subscribeTo(id, { after_seq: 2 });
    await maker.withdraw(quote);
    const timelines = await timelinesOf(maker, [id]);
    await client.untilIt(() => client.memory.of(from).events.at(-1)?.kind === 'QUOTE_WITHDRAWN', 'the end');
    const { events, snapshots } = client.memory.of(from);
    expect(events.map(({ seq, timeline_seq: at }) => [seq, at])).toEqual(
      timelines
        .get(id)!
        .slice(2)
        .map(({ seq }, index) => [index + 1, seq]),
    );
    expect(snapshots[0]!.auctions[0]!.view_version).toBeGreaterThanOrEqual(2);
    const texts = events.map(({ kind, occurred_at: at, data }) => [kind, at, data]);
    expect(texts).toEqual(
      timelines
        .get(id)!
        .slice(2)
        .map(({ kind, occurred_at: at, data }) => [kind, at, data]),
    );
  });

  it('that is cut off while it reads past entries goes on there at another gateway, to the end', async () => {
    const { auction_id: id } = await opens(originator, [maker]);
    let quote = await maker.quotes(id, 600_000, 1);
    for (let price = 590_000; price > 500_000; price -= 10_000)
      quote = mustBe(200, await maker.revise(quote, { price_atoms: price }));
    const client = await floor.listen(maker.name);
    const from = await client.subscribeTo(id, { after_seq: 0 });
    const { resume_token: token } = client.frames.findLast((frame) => frame.type === 'snapshot')!;
    client.kill();
    await maker.withdraw(quote);
    await originator.cancel(id);
    const timeline = (await timelinesOf(maker, [id])).get(id)!;
    expect(timeline.at(-1)).toMatchObject({ kind: 'AUCTION_COMPLETED' });
    const held = 3;
    const again = await floor.open({ token: await floor.token(maker.name), gateway: 1 });
    await again.hello({ resume_token: token, seen: { [from]: held } });
    const { memory } = again;
    await again.untilIt(() => memory.of(from).events.at(-1)?.kind === 'AUCTION_COMPLETED', 'the end');
    expect(memory.of(from).resyncs).toEqual([]);
    expect(memory.of(from).events.map(({ seq, timeline_seq: at, kind }) => [seq, at, kind])).toEqual(
      timeline.slice(held).map(({ seq, kind }) => [seq, seq, kind]),
    );
  });

  it('receives nothing after its end, while the others go on', async () => {
    const { auction_id: id } = await opens(originator, [maker]);
    const client = await floor.listen(maker.name);
    const [ending, staying] = [await client.subscribeTo(id), await client.subscribeTo(id)];
    const quote = await maker.quotes(id, 500_000, 1);
    await client.untilIt(() => client.memory.of(ending).events.length === 1, 'the quote');
    await client.ask('unsubscribe', { subscription_id: ending });
    await maker.withdraw(quote);
    await client.untilIt(() => client.memory.of(staying).events.length === 2, 'the withdrawal');
    expect(client.memory.of(ending).events).toHaveLength(1);
  });
});

describe('the limits of a connection', () => {
  const TOO_MANY = { type: 'reject', status: 429, error: 'stream_subscription_limit' };
  it('are 64 subscriptions, of any kind', async () => {
    const { auction_id: id } = await opens(originator, [maker]);
    const client = await floor.listen(maker.name);
    const kinds = [{ channel: 'auctions' }, { channel: 'auction', auction_id: id }];
    const ids = new Set<string>();
    for (let count = 0; count < MOST_SUBSCRIPTIONS; count += 1) {
      const reply = await client.ask('subscribe', kinds[count % 2]);
      if (reply.type === 'subscribed') ids.add(reply.subscription_id);
    }
    expect(ids.size).toBe(MOST_SUBSCRIPTIONS);
    for (const kind of kinds) expect(await client.ask('subscribe', kind)).toMatchObject(TOO_MANY);
    await client.ask('unsubscribe', { subscription_id: [...ids][7] });
    expect(await client.ask('subscribe', kinds[0])).toMatchObject({ type: 'subscribed' });
    const quote = await maker.quotes(id, 500_000, 1);
    const heard = (): number =>
      client.frames.filter((frame) => frame.type === 'event' && frame.kind === 'QUOTE_ACCEPTED').length;
    await client.untilIt(() => heard() === MOST_SUBSCRIPTIONS, 'the quote on every subscription');
    await maker.withdraw(quote);
  });

  it('do not bound the request rate: a flood is answered at a steady pace, and slows no other client', async () => {
    const [client, other] = [await floor.listen(maker.name), await floor.listen(maker.name)];
    const asked = Array.from({ length: 200 }, () => client.ask('subscribe', { channel: 'auctions' }));
    expect(await other.ask('ping')).toMatchObject({ type: 'pong' });
    const replies = await Promise.all(asked);
    expect(replies.filter(({ type }) => type === 'subscribed')).toHaveLength(MOST_SUBSCRIPTIONS);
    expect(replies.slice(MOST_SUBSCRIPTIONS)).toEqual(
      Array.from({ length: 200 - MOST_SUBSCRIPTIONS }, () => expect.objectContaining(TOO_MANY)),
    );
  });
});
