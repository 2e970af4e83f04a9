import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { StreamClient } from '#libs/client/stream-client.js';
import type { AuctionJson } from '#libs/client/wire.js';
import { streamFloor, type StreamFloor } from '../stream-floor.js';
import { faultsIn, timelinesOf, untilTold, type Timelines } from '../stream-record.js';
import { auctionBody, CONTRACT, mustBe, type Trader, untilPast } from '../trading-floor.js';

const DURATION_MS = 2_500;

/** What happens in an auction, and its final status for the originator. */
interface Story {
  readonly status: string;
  readonly differing?: Readonly<Record<string, unknown>>;
  readonly plot: (opened: AuctionJson) => Promise<unknown>;
}

jest.setTimeout(60_000);

let floor: StreamFloor;
let originator: Trader;
let makers: [Trader, Trader, Trader];
/** One stream each, at alternating gateways, with a subscription to all auctions. */
let streams: { readonly trader: Trader; readonly client: StreamClient; readonly id: string }[];
const ended = new Map<string, AuctionJson>();
/** A separate subscription to each auction, made as soon as it existed. */
const own = new Map<
  string,
  { readonly trader: Trader; readonly client: StreamClient; readonly id: string }[]
>();

const STORIES: Readonly<Record<string, Story>> = {
  'is won by one': {
    status: 'SETTLED',
    plot: async ({ auction_id: id }) => {
      await makers[0].quotes(id, 520_000, 10);
      await makers[1].quotes(id, 510_000, 10);
    },
  },
  'is split': {
    status: 'SETTLED',
    differing: { allocation: 'SPLIT', result_disclosure: 'WINNING_PRICE_AND_RANK' },
    plot: ({ auction_id: id }) =>
      Promise.all(makers.map((maker, index) => maker.quotes(id, 500_000 + index * 1_000, 5))),
  },
  'gets no quotes': { status: 'NO_AWARD', plot: () => Promise.resolve() },
  'gets no quote within its reserve': {
    status: 'NO_AWARD',
    differing: { limit_price_atoms: 400_000 },
    plot: ({ auction_id: id }) => makers[0].quotes(id, 410_000, 10),
  },
  'is cancelled': {
    status: 'CANCELLED',
    plot: async ({ auction_id: id }) => {
      await makers[0].quotes(id, 500_000, 10);
      await originator.cancel(id, { reason: 'changed our mind' });
    },
  },
  'is voided': {
    status: 'VOIDED',
    plot: async ({ auction_id: id }) => {
      await makers[0].quotes(id, 500_000, 10);
      const operator = await floor.trader('operator-1');
      mustBe(200, await operator.api.post(`/v1/ops/auctions/${id}/void`, { reason: 'a wrong market' }));
    },
  },
  'sees a quote expire': {
    status: 'SETTLED',
    plot: async ({ auction_id: id }) => {
      const expiresAt = new Date(Date.now() + 700).toISOString();
      await makers[0].quotes(id, 400_000, 10, { expires_at: expiresAt });
      await makers[1].quotes(id, 500_000, 10);
      await untilPast(expiresAt, 200);
      await makers[0].quotes(id, 490_000, 10);
    },
  },
  'sees refusals, revisions and a withdrawal': {
    status: 'NO_AWARD',
    differing: { min_fill_quantity_atoms: 10 * CONTRACT },
    plot: async ({ auction_id: id }) => {
      const quote = await makers[0].quotes(id, 500_000, 3);
      await makers[0].submit(id, { price_atoms: 500_001, quantity_atoms: CONTRACT });
      const revised = mustBe(200, await makers[0].revise(quote, { price_atoms: 480_000 }));
      await makers[0].revise(revised, { price_atoms: 1 });
      await makers[1].submit(id, { price_atoms: 500_000, quantity_atoms: 99 * CONTRACT });
      const other = await makers[2].quotes(id, 500_000, 3);
      await makers[2].withdraw(other);
      await makers[2].withdraw(other);
      await makers[2].quotes(id, 510_000, 3);
    },
  },
};

beforeAll(async () => {
  floor = await streamFloor();
  [originator, ...makers] = await floor.newTraders('originator', 'maker', 'maker', 'maker');
  streams = await Promise.all(
    [originator, ...makers].map(async (trader, index) => {
      const client = await floor.listen(trader.name, {}, { gateway: index % 2 });
      return { trader, client, id: await client.subscribe() };
    }),
  );
  await Promise.all(
    Object.entries(STORIES).map(async ([name, story]) => ended.set(name, await lifeOf(name, story))),
  );
}, 90_000);

afterAll(() => {
  floor.close();
});

async function lifeOf(name: string, { status, differing, plot }: Story): Promise<AuctionJson> {
  const body = auctionBody(floor.contract('venue_c', 6), makers, { duration_ms: DURATION_MS, ...differing });
  const opened = await originator.create(body, randomUUID());
  const { auction_id: id } = mustBe(201, opened);
  const subscriptions = streams.map(async ({ trader, client }) => ({
    ...{ trader, client },
    id: await client.subscribeTo(id),
  }));
  own.set(name, await Promise.all(subscriptions));
  await plot(opened.body);
  return originator.until(id, status);
}

describe.each(Object.keys(STORIES))('an auction that %s', (name) => {
  it('is sent to all its parties, entry by entry, as the events endpoint shows it', async () => {
    const { auction_id: id } = ended.get(name)!;
    for (const { trader, client, id: everything } of streams) {
      const timelines = await timelinesOf(trader, [id]);
      expect(timelines.get(id)!.at(-1)!.kind).toBe('AUCTION_COMPLETED');
      await untilTold(client, everything, timelines);
      expect([trader.name, faultsIn(only(client, everything, id), timelines)]).toEqual([trader.name, []]);
    }
  });

  it('is sent the same to subscribers of this one auction, after the view that they were shown', async () => {
    const { auction_id: id } = ended.get(name)!;
    for (const { trader, client, id: alone } of own.get(name)!) {
      const timelines = await timelinesOf(trader, [id]);
      await untilTold(client, alone, timelines);
      const told = client.memory.of(alone);
      expect(told.snapshots.map(({ auctions }) => auctions.map(({ auction_id: shown }) => shown))).toEqual([
        [id],
      ]);
      expect([trader.name, faultsIn(told, timelines)]).toEqual([trader.name, []]);
      expect(told.events.every(({ auction_id: about }) => about === id)).toBe(true);
    }
  });

  it('can still be subscribed to: its last view, and past entries on request', async () => {
    const { auction_id: id } = ended.get(name)!;
    for (const { trader, client } of streams) {
      const timelines: Timelines = await timelinesOf(trader, [id]);
      const entries = timelines.get(id)!;
      const plain = client.memory.of(await client.subscribeTo(id));
      expect(plain.snapshots[0]!.auctions).toEqual([await trader.view(id)]);
      expect(plain.events).toEqual([]);
      const fromSecond = await client.subscribeTo(id, { after_seq: 1 });
      await client.untilIt(
        () => client.memory.of(fromSecond).events.length >= entries.length - 1,
        'the past',
      );
      const { snapshots, events } = client.memory.of(fromSecond);
      expect(snapshots[0]!.auctions).toEqual([await trader.view(id)]);
      const said = events.map(({ timeline_seq: seq, kind, occurred_at: at, data }) => [seq, kind, at, data]);
      expect(said).toEqual(
        entries.slice(1).map(({ seq, kind, occurred_at: at, data }) => [seq, kind, at, data]),
      );
      await client.ask('unsubscribe', { subscription_id: fromSecond });
    }
  });
});

it('nothing was sent twice, out of order, or about other parties', () => {
  const ids = new Set([...ended.values()].map(({ auction_id: id }) => id));
  for (const { client, id } of streams) {
    expect(client.memory.faults).toEqual([]);
    const events = client.memory.of(id).events;
    expect(events.filter(({ auction_id: about }) => !ids.has(about))).toEqual([]);
  }
  const [{ client, id }] = streams as [(typeof streams)[0]];
  const kinds = client.memory.of(id).events.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith('QUOTE_'))).toEqual([]);
});

/** The events of one auction, as if it had been alone. */
function only(client: StreamClient, id: string, auctionId: string): ReturnType<StreamClient['memory']['of']> {
  const told = client.memory.of(id);
  const events = told.events.filter((event) => event.auction_id === auctionId);
  return { ...told, snapshots: [], events };
}
