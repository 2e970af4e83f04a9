import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AuctionView } from '#libs/testing/wire.js';
import { keyFor, quickStreamFloor, type StreamFloor } from './stream-floor.js';
import { faultsIn, timelinesOf, untilTold } from './stream-record.js';
import { auctionBody, mustBe, type Trader } from './trading-floor.js';

/** Gateways of this cluster keep a hundred changes of each shard. */
const MORE_THAN_IS_KEPT = 130;

jest.setTimeout(90_000);

let floor: StreamFloor;
let originator: Trader;
let maker: Trader;

beforeAll(async () => {
  floor = await quickStreamFloor();
  [originator, maker] = (await floor.traders('load-originator-1', 'load-maker-3')) as [Trader, Trader];
}, 60_000);

afterAll(() => {
  floor.close();
});

/** All at one owner, for what is kept is kept for each of them. */
async function opens(): Promise<AuctionView> {
  const body = auctionBody(floor.contract('venue_c', 0), [maker], { duration_ms: 600_000 });
  return mustBe(201, await originator.create(body, keyFor(originator, 0)));
}

/** So much that nobody can be told all of it any more, in the shard of this auction. */
async function muchHappensIn({ auction_id: id }: AuctionView): Promise<void> {
  let quote = await maker.quotes(id, 500_000, 1);
  for (let round = 0; round < MORE_THAN_IS_KEPT; round += 1)
    quote = mustBe(200, await maker.revise(quote, { price_atoms: 300_000 + round * 1_000 }));
  await maker.withdraw(quote);
}

describe('a stream that was away for too long', () => {
  it('is told so, shown what there is now as GET shows it, and goes on from there', async () => {
    const [kept, ended] = [await opens(), await opens()];
    const client = await floor.listen(maker.name);
    const subscriptions = [
      await client.subscribe(),
      await client.subscribeTo(kept.auction_id),
      await client.subscribeTo(ended.auction_id),
    ] as const;
    const [all, one, other] = subscriptions;
    await maker.withdraw(await maker.quotes(kept.auction_id, 500_000, 1));
    await client.untilIt(() => client.memory.of(one).events.length === 2, 'both events');
    const before = Object.values(client.memory.seen);
    client.kill();
    await originator.cancel(ended.auction_id);
    await muchHappensIn(kept);

    const again = await floor.goesOn(maker.name, client, { gateway: 1 });
    expect(again.frames[0]).toMatchObject({ resumed: true });
    for (const id of subscriptions)
      await again.untilIt(() => again.memory.of(id).snapshots.length === 2, `the second snapshot of ${id}`);
    for (const id of subscriptions) expect([id, again.memory.of(id).resyncs]).toEqual([id, ['HISTORY_GONE']]);
    const shown = (id: string): readonly AuctionView[] => again.memory.of(id).snapshots[1]!.auctions;
    const view = await maker.view(kept.auction_id);
    expect(shown(one)).toEqual([view]);
    expect(shown(other)).toEqual([await maker.view(ended.auction_id)]);
    expect(shown(all)).toContainEqual(view);
    expect(shown(all).map(({ auction_id: id }) => id)).not.toContain(ended.auction_id);
    // `seq` has gone on as if nothing had been.
    expect(Object.values(again.memory.seen)).toEqual(before);
    const types = again.frames
      .map(({ type }) => type)
      .filter((type) => type === 'resync' || type === 'snapshot');
    expect(types).toEqual(['resync', 'snapshot', 'resync', 'snapshot', 'resync', 'snapshot']);

    await maker.quotes(kept.auction_id, 500_000, 1);
    const timelines = await timelinesOf(maker, [kept.auction_id]);
    for (const id of [all, one]) {
      await untilTold(again, id, timelines);
      expect(again.memory.of(id).events.at(-1)).toMatchObject({ kind: 'QUOTE_ACCEPTED' });
    }
    expect(again.memory.faults).toEqual([]);
    await originator.cancel(kept.auction_id);
  });

  it('is told everything when it was away for a moment only', async () => {
    const here = await opens();
    const client = await floor.listen(maker.name);
    const one = await client.subscribeTo(here.auction_id);
    client.kill();
    await maker.quotes(here.auction_id, 500_000, 1);
    const again = await floor.goesOn(maker.name, client, { gateway: 1 });
    const timelines = await timelinesOf(maker, [here.auction_id]);
    await untilTold(again, one, timelines);
    expect([again.memory.of(one).resyncs, faultsIn(again.memory.of(one), timelines)]).toEqual([[], []]);
    await originator.cancel(here.auction_id);
  });
});
