import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { AuctionJson, QuoteJson } from '#libs/client/wire.js';
import { keyFor, quickStreamFloor, type StreamFloor } from '../stream-floor.js';
import { faultsIn, timelinesOf, untilTold } from '../stream-record.js';
import { auctionBody, mustBe, type Trader } from '../trading-floor.js';

/** Gateways of this cluster keep a hundred changes of each shard. */
const MORE_THAN_IS_KEPT = 130;
const SHARDS = [0, 1, 2];

jest.setTimeout(120_000);

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;
let rival: Trader;
let outsider: Trader;

beforeAll(async () => {
  floor = await quickStreamFloor();
  const names = ['load-originator-3', 'load-maker-5', 'load-maker-6', 'load-maker-7'];
  [originator, maker, rival, outsider] = (await floor.traders(...names)) as [Trader, Trader, Trader, Trader];
}, 60_000);

afterAll(() => floor.end());

/** At this owner, because changes are kept for each shard. */
async function opens(makers: readonly Trader[], shard = 0, fields: object = {}): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_c', 0), makers, { duration_ms: 600_000, ...fields });
  return mustBe(201, await originator.create(body, keyFor(originator, shard)));
}

/** Causes enough changes that no gateway keeps earlier ones of this auction's shard. */
async function muchHappensIn({ auction_id: id }: AuctionJson, by: Trader): Promise<QuoteJson> {
  let quote = await by.quotes(id, 900_000, 1);
  for (let round = 0; round < MORE_THAN_IS_KEPT; round += 1)
    quote = mustBe(200, await by.revise(quote, { price_atoms: 700_000 + round * 1_000 }));
  return quote;
}

/** In all shards, in auctions of uninvolved accounts. */
async function muchHappens(): Promise<void> {
  await Promise.all(
    SHARDS.map(async (shard) => {
      const auction = await opens([rival], shard);
      await muchHappensIn(auction, rival);
      await originator.cancel(auction.auction_id);
    }),
  );
}

/** All frames until only heartbeats come for a while. */
async function framesOf(client: StreamClient): Promise<string[]> {
  const beats = (): number => client.frames.filter(({ type }) => type === 'heartbeat').length;
  await client.untilIt(() => beats() >= 3, 'three heartbeats');
  return client.texts
    .filter((text) => !text.startsWith('{"type":"heartbeat"'))
    .map((text) =>
      text
        .replaceAll(/"resume_token":"([^"]*)"/g, (_, token: string) => `"resume_token":${token.length}`)
        .replaceAll(/"(cmd_id|connection_id|server_time|session_expires_at)":"[^"]*"/g, '"$1":"-"'),
    );
}

describe('a stream whose position the gateways no longer keep', () => {
  it('receives everything that has happened to its own auctions, to the end of each', async () => {
    const [kept, ended] = [await opens([maker]), await opens([maker])];
    const client = await floor.listen(maker.name);
    const subscriptions = [
      await client.subscribe(),
      await client.subscribeTo(kept.auction_id),
      await client.subscribeTo(ended.auction_id),
    ] as const;
    const [all, one, other] = subscriptions;
    await maker.withdraw(await maker.quotes(kept.auction_id, 500_000, 1));
    await client.untilIt(() => client.memory.of(one).events.length === 2, 'both events');
    client.kill();
    await originator.cancel(ended.auction_id);
    await maker.withdraw(await muchHappensIn(kept, maker));

    const again = await floor.goesOn(maker.name, client, { gateway: 1 });
    const timelines = await timelinesOf(maker, [kept.auction_id, ended.auction_id]);
    await untilTold(again, all, timelines);
    await untilTold(again, one, new Map([...timelines].slice(0, 1)));
    await untilTold(again, other, new Map([...timelines].slice(1)));
    for (const id of subscriptions) {
      const { snapshots, resyncs } = again.memory.of(id);
      expect([id, snapshots.length, resyncs]).toEqual([id, 1, []]);
    }
    expect(faultsIn(again.memory.of(all), timelines)).toEqual([]);
    expect(again.memory.of(other).events.map(({ kind }) => kind)).toEqual([
      'AUCTION_CANCELLED',
      'AUCTION_COMPLETED',
    ]);
    await maker.quotes(kept.auction_id, 500_000, 1);
    const later = await timelinesOf(maker, [kept.auction_id]);
    for (const id of [all, one]) await untilTold(again, id, later);
    expect(again.memory.faults).toEqual([]);
    await originator.cancel(kept.auction_id);
  });

  it('receives its award and its execution once', async () => {
    const auction = await opens([maker, rival], 1, { duration_ms: 4_000 });
    const client = await floor.listen(maker.name);
    const all = await client.subscribe();
    await maker.quotes(auction.auction_id, 300_000, 10);
    await client.untilIt(() => client.memory.of(all).events.length === 1, 'the quote');
    client.kill();
    await maker.until(auction.auction_id, 'SETTLED');
    await muchHappens();

    const again = await floor.goesOn(maker.name, client);
    const timelines = await timelinesOf(maker, [auction.auction_id]);
    await untilTold(again, all, timelines);
    const told = again.memory.of(all);
    expect([faultsIn(told, timelines), again.memory.faults, told.resyncs]).toEqual([[], [], []]);
    const kinds = told.events.map(({ kind }) => kind);
    for (const kind of ['QUOTE_AWARDED', 'EXECUTION_CONFIRMED', 'AUCTION_COMPLETED'])
      expect([kind, kinds.filter((each) => each === kind).length]).toEqual([kind, 1]);
  });

  it('gets HISTORY_GONE if its claimed position does not exist', async () => {
    const { auction_id: id } = await opens([maker]);
    const client = await floor.listen(maker.name);
    const one = await client.subscribeTo(id);
    client.kill();
    const again = await floor.open({ token: await floor.token(maker.name) });
    await again.hello({ resume_token: client.memory.token, seen: { [one]: 900 } });
    const resync = await again.untilType('resync');
    expect(resync).toEqual({ type: 'resync', subscription_id: one, reason: 'HISTORY_GONE' });
    expect((await again.untilType('snapshot')).auctions).toEqual([await maker.view(id)]);
    await originator.cancel(id);
  });
});

describe('the activity of other accounts', () => {
  /** What a resuming stream receives, after no activity and after some. */
  async function resumedTwice(trader: Trader, meanwhile: () => Promise<unknown>): Promise<string[][]> {
    const told: string[][] = [];
    for (const act of [() => Promise.resolve(), meanwhile]) {
      const client = await floor.listen(trader.name);
      await client.subscribe();
      client.kill();
      await act();
      const again = await floor.goesOn(trader.name, client, { gateway: 1 });
      told.push(await framesOf(again));
      again.kill();
    }
    return told;
  }

  it('does not show in the stream of an outsider, however much it is', async () => {
    const [quiet, busy] = await resumedTwice(outsider, muchHappens);
    expect(busy).toEqual(quiet);
    expect(quiet).toHaveLength(1);
  });

  it('does not show in the stream of a rival in the same auction either', async () => {
    const auction = await opens([maker, rival]);
    await maker.quotes(auction.auction_id, 500_000, 1);
    const [quiet, busy] = await resumedTwice(maker, () => muchHappensIn(auction, rival));
    expect(busy).toEqual(quiet);
    expect(quiet).toHaveLength(1);
    await originator.cancel(auction.auction_id);
  });
});
